// Package atomics is what goroutines of dewpond meet through: atomics, a mutex, a timer,
// the clock and garbage collection. In a build they are those of the standard library. With
// the build tag dewpond_explore each asks the explorer of internal/proof first, which
// decides whose turn it is. So a file that names them through this package, and no others, is
// explored as it ships.
package atomics
