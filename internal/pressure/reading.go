package pressure

// A Reading is what a Reader found. A source without an answer leaves its fields zero.
type Reading struct {
	// Go is the share of their limit that the runtime's and the off-heap bytes use. The
	// limit is the lower of GOMEMLIMIT and 95 % of the cgroup's hard limit.
	Go float64

	// Group is the share that a cgroup's working set uses of the lower of its hard and
	// its high limit. If several groups limit the process, it is that of the fullest.
	Group float64

	// Some and Full are shares of the time since the last reading: in which at least
	// one task waited for memory, and in which all tasks waited at once.
	Some, Full float64

	// GCLimited says that since the last reading the runtime has limited the collector,
	// to keep it from taking more than half of the processor time.
	GCLimited bool
}

// Use returns the larger share of a limit, from 0; it is over 1 past the limit.
func (r Reading) Use() float64 { return max(r.Go, r.Group) }

// Level returns the level of this reading alone, without regard to earlier ones.
func (r Reading) Level() Level {
	switch {
	case r.Use() >= highAt || r.Full > stallAt || r.GCLimited:
		return High
	case r.Use() >= mediumAt || r.Some > stallAt:
		return Medium
	}
	return Low
}

// share returns used/limit. A limit of zero, which GOMEMLIMIT and a cgroup can have, is
// always fully used.
func share(used, limit float64) float64 {
	if limit <= 0 {
		return 1
	}
	return used / limit
}
