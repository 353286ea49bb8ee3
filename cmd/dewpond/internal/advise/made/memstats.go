package made

import "fmt"

// MemStats are the last lines of heap?debug=1.
type MemStats struct {
	TotalAlloc, NextGC, NumGC, NumForcedGC uint64
	Second                                 int64 // of the last collection
	Oldest                                 int64 // second of the oldest collection; 0: the first one
}

// Text returns what heap?debug=1 would answer.
func (m MemStats) Text() []byte {
	return fmt.Appendf(nil, `heap profile: 0: 0 [0: 0] @ heap/1048576

# runtime.MemStats
# Alloc = 50000000
# TotalAlloc = %d
# Sys = 130000000
# Mallocs = 1000
# Frees = 1
# HeapAlloc = 60000000
# HeapSys = 120000000
# HeapIdle = 50000000
# HeapReleased = 10000000
# Stack = 1000000 / 1000000
# NextGC = %d
# LastGC = %d
# PauseNs = [0 0]
# PauseEnd = [%d 0]
# NumGC = %d
# NumForcedGC = %d
# GCCPUFraction = 0.1
# DebugGC = false
`, m.TotalAlloc, m.NextGC, m.Second*1e9, max(m.Oldest, 1)*1e9, m.NumGC, m.NumForcedGC)
}
