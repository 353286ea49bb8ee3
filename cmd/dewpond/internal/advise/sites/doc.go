// Package sites finds in heap profiles which lines of a program allocate, how much and of what size,
// and how much of it lives.
package sites
