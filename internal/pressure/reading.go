package pressure

// A Reading is what a Reader saw. What a source does not say is zero.
type Reading struct {
	// Go is the share that the runtime's and the off-heap bytes have of their limit:
	// the lower of GOMEMLIMIT and 95 % of the cgroup's hard limit.
	Go float64

	// Group is the share that a cgroup's working set has of the lower of its hard
	// and its high limit; where several groups limit the process, of the fullest.
	Group float64

	// Some and Full are shares of the time since the last reading: in which at least
	// one task waited for memory, and in which all did at once.
	Some, Full float64

	// GCLimited says that the runtime has held the collector back since the last
	// reading, lest it take more than half of the processor time.
	GCLimited bool
}

// Use returns the larger share of a limit: from 0, over 1 when past it.
func (r Reading) Use() float64 { return max(r.Go, r.Group) }

// Level returns the level of this reading alone, without what came before.
func (r Reading) Level() Level {
	switch {
	case r.Use() >= highAt || r.Full > stallAt || r.GCLimited:
		return High
	case r.Use() >= mediumAt || r.Some > stallAt:
		return Medium
	}
	return Low
}

// share returns used/limit. Of a limit of nothing, everything is used: a limit of
// zero can be set, for GOMEMLIMIT as for a cgroup.
func share(used, limit float64) float64 {
	if limit <= 0 {
		return 1
	}
	return used / limit
}
