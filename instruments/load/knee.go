package load

// A Knee is the highest rate at which a target keeps what is asked of it, as dewload find looks
// for it.
type Knee struct {
	SLO  string     `json:"slo"`  // such as session p99 < 100ms
	Rows []KneeRate `json:"rows"` // in the order in which they were tried
	// Holds is the rate that was found, in sessions a second; 0 if the lowest does not hold. Fails is
	// the lowest rate that does not; 0 if none was found.
	Holds    float64 `json:"holds"`
	Fails    float64 `json:"fails"`
	Sentence string  `json:"sentence"` // that says so
	// Generator reports that the generator, and not the target, is why Fails does not hold.
	Generator bool `json:"generator,omitempty"`
}

// A KneeRate is one rate that was tried.
type KneeRate struct {
	Rate     float64 `json:"rate"`     // sessions a second
	Achieved float64 `json:"achieved"` // finished a second, while sessions began
	// P50, P99 and P999 are of the response, in nanoseconds; nil where there are too few samples.
	P50      *float64 `json:"p50_ns,omitempty"`
	P99      *float64 `json:"p99_ns,omitempty"`
	P999     *float64 `json:"p999_ns,omitempty"`
	InFlight float64  `json:"in_flight"`     // sessions, on the mean
	Holds    bool     `json:"holds"`         // it keeps what is asked
	Why      string   `json:"why,omitempty"` // it does not
	// Generator reports that the generator, and not the target, is why.
	Generator bool `json:"generator,omitempty"`
	// Little reports whether in flight = rate x response.
	Little bool `json:"little"`
}
