package look

import (
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/advice"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/attribution"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/memstats"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
)

// A CPU is what a profile of the processors has.
type CPU struct {
	counter    attribution.Counter
	allocation int64               // samples in mallocgc, without the collector's work there
	sites      map[sites.Key]int64 // of these, by the user's own innermost call
}

// isCPU reports whether a profile is of the processors.
func isCPU(p *profile.Profile) bool {
	for _, t := range p.SampleType {
		if t.Type == "cpu" {
			return true
		}
	}
	return false
}

// add adds a piece of a profile.
func (c *CPU) add(p *profile.Profile, program sites.Program) error {
	if err := c.counter.Add(p); err != nil {
		return err
	}
	if c.sites == nil {
		c.sites = map[sites.Key]int64{}
	}
	for _, s := range p.Sample {
		switch kind := c.counter.KindOf(s); kind {
		case "allocation", "clearing":
			stack := sites.Frames(s)
			if kind == "clearing" && !calls(stack, "runtime.mallocgc") {
				continue // the program clears memory of its own
			}
			c.allocation += s.Value[0]
			c.sites[program.Site(stack)] += s.Value[0]
		}
	}
	return nil
}

func calls(stack []sites.Frame, function string) bool {
	for _, f := range stack {
		if strings.HasPrefix(f.Function, function) {
			return true
		}
	}
	return false
}

// shares returns what the profile says.
func (c *CPU) shares() advice.CPU {
	out := advice.CPU{
		From:       "CPU profile",
		Collector:  c.counter.Share(c.counter.Count("marking", "sweeping")),
		Allocation: c.counter.Share(c.allocation),
		Sites:      map[sites.Key]estimate.Estimate{},
		None:       c.counter.Share(0),
	}
	for key, n := range c.sites {
		out.Sites[key] = c.counter.Share(n)
	}
	return out
}

// kept is how many collections the runtime remembers the end of.
const kept = 256

// fraction returns the collector's share of all processors' time in the window, by what the runtime says
// of the time since the program's start: when that was, unless it is known, the first collections say.
func fraction(all []*memstats.Stats, began time.Time) estimate.Estimate {
	first, last := all[0], all[len(all)-1]
	for _, s := range all {
		if began.IsZero() && s.NumGC <= kept {
			began = s.OldestGC
		}
	}
	if began.IsZero() {
		return estimate.CannotTell("the runtime has it since the program's start alone, and remembers %d collections: give a CPU profile or a gctrace, or serve runtime/metrics or when the process began, as Prometheus's client does", kept)
	}
	before, after := 0.0, last.LastGC.Sub(began).Seconds()
	if first.NumGC > 0 {
		before = first.LastGC.Sub(began).Seconds()
	}
	if before < 0 || after <= before {
		return estimate.CannotTell("the collections and the start of the program do not go together: give a CPU profile")
	}
	share := (last.GCCPUFraction*after - first.GCCPUFraction*before) / (after - before)
	return estimate.Exact(min(1, max(0, share)))
}
