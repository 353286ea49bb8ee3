package digest

import (
	"errors"
	"maps"
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// Of makes the document of one bench command from its rounds: medians with their spread, ratios to
// syncpool-class and excess over nop. The caller sets Command, and Words (package words).
func Of(env bench.Conditions, sc bench.Scenario, about map[string]string, rounds []result.Round) (bench.Document, error) {
	d := bench.Document{Schema: bench.Schema, Environment: env, Scenario: sc}
	if len(rounds) == 0 {
		return d, errors.New("summary: no round was measured")
	}
	all, err := group(rounds)
	if err != nil {
		return d, err
	}
	base, nop := find(all, bench.Baseline), find(all, bench.Control)
	for _, s := range all {
		c, err := s.contender(about[s.name])
		if err != nil {
			return d, err
		}
		if base != nil && s != base {
			c.Ratios = ratios(s, base)
			c.Differences = differences(s, base, c.Ratios)
		}
		if nop != nil && s != nop {
			c.Excess = excesses(s, nop)
		}
		d.Contenders = append(d.Contenders, c)
	}
	if s := find(all, bench.Ours); s != nil {
		d.Tools = s.tools()
		if off := find(all, bench.Undecayed); off != nil {
			d.Decay = ratios(s, off)
		}
	}
	d.Interrupted = slices.ContainsFunc(rounds, func(r result.Round) bool { return r.Cut })
	return d, nil
}

// contender summarizes the rounds of one series.
func (s *series) contender(about string) (bench.Contender, error) {
	c := bench.Contender{
		Name:            s.name,
		About:           about,
		OpsPerSec:       s.figure("ops_per_sec"),
		GCPer5s:         s.figure("gc_per_5s"),
		AllocBytesPerOp: s.figure("alloc_bytes_per_op"),
		AllocsPerOp:     s.figure("allocs_per_op"),
		GCCPUShare:      s.figure("gc_cpu_share"),
		RSSPeakBytes:    s.figure("rss_peak_bytes"),
		RecorderBytes:   s.figure("recorder_bytes"),
	}
	names := map[string]bool{}
	for _, m := range s.rounds {
		if c.Engine == "" {
			c.Engine = m.Engine
		}
		for name := range m.Figures {
			names[name] = true
		}
	}
	for name := range names {
		if c.Figures == nil {
			c.Figures = map[string]result.Figure{}
		}
		c.Figures[name] = s.figure(name)
	}
	c.Series = maps.Clone(s.middle().Series)
	for _, op := range figure.Operations {
		t, err := s.times(op.Key)
		if err != nil {
			return c, err
		}
		*figures.In(&c, op) = t
	}
	return c, nil
}
