// Package learn finds out which size of block fits, from what earlier blocks had to hold:
// First for the first block of Buffers, Bodies for the blocks of a BodyPool. Both are small,
// are asked at every use, and may be used by any number of goroutines at once: what two
// learn at the same moment is learned once.
package learn
