package top

import "strings"

// A Snapshot is what a program says of its pools at one time.
type Snapshot struct {
	Pools    map[string]*Pool
	Budgets  map[string]*Budget
	Pressure float64 // 0 low, 1 medium, 2 high
}

// A Pool has the numbers of one pool that are shown. Counts are since the pool was made.
type Pool struct {
	Gets, Misses, Puts                  float64 // Gets with Oversize, which is part of Misses here
	Refused, Dropped, Waits, Violations float64
	WaitSeconds, Trimmed                float64
	Out                                 float64 // Gets minus Puts
	Idle, Used                          float64 // bytes
}

// A Budget has the bytes of one Budget.
type Budget struct{ Used, Limit float64 }

func newSnapshot() *Snapshot {
	return &Snapshot{Pools: map[string]*Pool{}, Budgets: map[string]*Budget{}}
}

// add notes a value of a metric, which is named as in the metrics document, without its
// prefix. of is the name of the pool or Budget, and label the one that tells the values of a
// metric apart: result, state or reason.
func (s *Snapshot) add(metric, of, label string, v float64) {
	switch {
	case metric == "pressure_level":
		s.Pressure = v
		return
	case metric == "budget_used_bytes":
		s.budget(of).Used = v
		return
	case metric == "budget_limit_bytes":
		s.budget(of).Limit = v
		return
	case strings.HasPrefix(metric, "budget_"):
		return
	}
	if to := s.pool(of).field(metric, label); to != nil {
		*to += v
	}
	if metric == "gets_oversize_total" || metric == "gets_total" && label == "miss" {
		s.pool(of).Misses += v
	}
}

// field returns where the values of a metric are added up, or nil if they are not shown.
func (p *Pool) field(metric, label string) *float64 {
	switch metric {
	case "gets_total", "gets_oversize_total":
		return &p.Gets
	case "puts_total":
		return &p.Puts
	case "gets_refused_total":
		return &p.Refused
	case "puts_dropped_total":
		return &p.Dropped
	case "waits_total":
		return &p.Waits
	case "wait_seconds_total":
		return &p.WaitSeconds
	case "violations_total":
		return &p.Violations
	case "trimmed_bytes_total":
		return &p.Trimmed
	case "gets_minus_puts":
		return &p.Out
	case "bytes":
		if label == "idle" {
			return &p.Idle
		}
		return &p.Used
	}
	return nil
}

func (s *Snapshot) pool(name string) *Pool {
	if s.Pools[name] == nil {
		s.Pools[name] = new(Pool)
	}
	return s.Pools[name]
}

func (s *Snapshot) budget(name string) *Budget {
	if s.Budgets[name] == nil {
		s.Budgets[name] = new(Budget)
	}
	return s.Budgets[name]
}

// HitRate returns the share of Gets that found an idle block, or 0 if there was no Get.
func (p *Pool) HitRate() float64 {
	if p.Gets == 0 {
		return 0
	}
	return 1 - p.Misses/p.Gets
}
