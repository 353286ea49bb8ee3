// Package dewstatsviz shows a program's pools live in the browser, beside the plots that
// [statsviz] has of Go's own memory and scheduler:
//
//	dewstatsviz.Register(http.DefaultServeMux) // once the pools are made
//
// The page is at /debug/statsviz. It comes from the program itself, and needs no other
// machine. It shows hit rate, misses, bytes, waits, trims and violations by pool, and memory
// pressure.
//
// The lines of a page are fixed when it is registered. So each pool that is live then has a
// line, and one more adds up those that are made later.
//
// Statsviz reads everything once a second from then on, whether anybody looks or not: Stats of
// a pool takes microseconds. It is a tool to develop with; for production there are dewprom,
// dewotel and dewexpvar.
package dewstatsviz
