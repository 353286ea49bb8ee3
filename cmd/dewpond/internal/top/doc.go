// Package top shows a running program's pools in a terminal: what [Source] fetches, a [Screen]
// remembers and draws, and [Run] refreshes. It reads what contrib/dewexpvar and contrib/dewprom
// serve, with nothing but the standard library.
package top
