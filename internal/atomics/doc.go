// Package atomics is how goroutines of dewpond meet: atomics, a mutex, a timer, the clock and
// garbage collection. In a normal build they are those of the standard library. With the build
// tag dewpond_explore each of them first asks the explorer of instruments/proof, which decides
// whose turn it is. So a file that uses only this package for them is explored as it ships.
package atomics
