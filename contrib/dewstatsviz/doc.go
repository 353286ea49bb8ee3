// Package dewstatsviz shows a program's pools live in the browser, beside the plots that
// [statsviz] has of Go's own memory and scheduler:
//
//	dewstatsviz.Register(http.DefaultServeMux) // once the pools are made
//
// The page is at /debug/statsviz. It comes from the program itself, and needs no other
// machine. It shows hit rate, misses, bytes, waits, trims and violations by pool, and memory
// pressure, and below them statsviz's own plots.
//
// The lines of a page are fixed when it is registered. So each pool that is live then has a
// line, and one more adds up those that are made later.
//
// While somebody looks, each pool is asked once a second, which takes microseconds. A page has a
// line for each pool in each of seven plots: it can be read with some ten pools, and works with
// some hundred. It is a tool to develop with; for production there are dewprom, dewotel and
// dewexpvar.
package dewstatsviz
