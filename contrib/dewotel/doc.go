// Package dewotel exports the statistics of all of a program's pools to OpenTelemetry.
//
//	registration, err := dewotel.Register(otel.GetMeterProvider())
//
// The [metrics document] lists the instruments. The attributes are pool.name and budget.name,
// and class, result, state, reason and limit where there is one. A histogram of a pool in checked mode
// is a counter of the values up to each bound, which is the attribute le.
//
// The instruments are observable ones: the numbers are read when the SDK collects. Nothing
// runs between collections, and nothing is added to Get or Put.
//
// [metrics document]: https://github.com/dewpond/dewpond/blob/main/docs/metrics.md
package dewotel
