package rig

import (
	"time"

	"github.com/prometheus/procfs"
)

// tick is the unit in which Linux tells the processor time of other processes.
const tick = 10 * time.Millisecond

// usedBy is the processor time of some processes and all that they have started: of those that
// live, and of those that have ended and were waited for, as PostgreSQL's are, of which each
// connection has one. It is -1 where the system has no /proc.
func usedBy(roots ...int) time.Duration {
	all, err := procfs.AllProcs()
	if err != nil {
		return -1
	}
	children := map[int][]procfs.ProcStat{}
	own := map[int]procfs.ProcStat{}
	for _, p := range all {
		if s, err := p.Stat(); err == nil { // else it has just ended
			children[s.PPID] = append(children[s.PPID], s)
			own[s.PID] = s
		}
	}
	ticks := 0
	var add func(s procfs.ProcStat)
	add = func(s procfs.ProcStat) {
		ticks += int(s.UTime+s.STime) + s.CUTime + s.CSTime
		for _, child := range children[s.PID] {
			add(child)
		}
	}
	for _, pid := range roots {
		s, ok := own[pid]
		if !ok {
			return -1
		}
		add(s)
	}
	return time.Duration(ticks) * tick
}
