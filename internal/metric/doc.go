// Package metric is the one list of what dewpond's exporters export, so that all of them
// give the same numbers under names that belong together. [List] says what there is, and
// [Read] asks the pools. An exporter only says it in the words of its library.
//
// Nothing here runs on Get or Put, and nothing is kept between two calls of Read: a number
// is what [dewpond.Stats] says at the time.
package metric
