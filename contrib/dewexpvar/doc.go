// Package dewexpvar shows the statistics of all of a program's pools under /debug/vars.
//
//	dewexpvar.Publish()
//
// The variable "dewpond" has an object for each pool and each named Budget, with the metrics
// of the [metrics document] without their prefix. Where a metric has labels beside the pool or
// Budget, their values are the keys:
//
//	{"pools": {"frames": {"gets_total": {"512": {"hit": 99, "miss": 1}}, "gets_minus_puts": 3}},
//	 "budgets": {"all": {"budget_used_bytes": 4096}}, "pressure_level": 0}
//
// The keys of a histogram are the bounds up to which its values count: {"1024": 50, "+Inf": 60}.
//
// The command "dewpond top" reads it. The numbers are read at each request; nothing runs
// between requests, and nothing is added to Get or Put.
//
// [metrics document]: https://github.com/dewpond/dewpond/blob/main/docs/metrics.md
package dewexpvar
