package report

import (
	"errors"
	"maps"
	"slices"

	"github.com/dewpond/dewpond/internal/measure/result"
)

const (
	baseline = "syncpool-class" // the best honest use of sync.Pool: what every ratio is to
	control  = "nop"            // the floor of the driver: what every excess is over
	ours     = "dewpond"        // the words begin with it

	undecayed = "dewpond-nodecay" // ours without decay
)

// Summarise makes the document of one bench command from its rounds: medians
// with their spread, ratios to syncpool-class and excess over nop, and the
// verdict in words where the rounds allow one. The caller sets Command.
func Summarise(env result.Environment, sc result.Scenario, about map[string]string, rounds []result.Round) (result.Document, error) {
	d := result.Document{Schema: result.Schema, Environment: env, Scenario: sc}
	if len(rounds) == 0 {
		return d, errors.New("report: no round was measured")
	}
	all, err := group(rounds)
	if err != nil {
		return d, err
	}
	base, nop := find(all, baseline), find(all, control)
	for _, s := range all {
		c, err := s.contender(about[s.name])
		if err != nil {
			return d, err
		}
		if base != nil && s != base {
			c.Ratios = ratios(s, base)
		}
		if nop != nil && s != nop {
			c.Excess = excesses(s, nop)
		}
		if sc.Name == soaked {
			c.Soak = s.soak(c)
		}
		d.Contenders = append(d.Contenders, c)
	}
	if s := find(all, ours); s != nil {
		d.Tools = s.tools()
		if off := find(all, undecayed); off != nil {
			d.Decay = ratios(s, off)
		}
	}
	d.Interrupted = slices.ContainsFunc(rounds, func(r result.Round) bool { return r.Cut })
	d.Words = words(d)
	return d, nil
}

// contender folds the rounds of one series into its figures.
func (s *series) contender(about string) (result.Contender, error) {
	c := result.Contender{
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
	figures := map[string]bool{}
	for _, m := range s.rounds {
		if c.Engine == "" {
			c.Engine = m.Engine
		}
		for name := range m.Figures {
			figures[name] = true
		}
	}
	for name := range figures {
		if c.Figures == nil {
			c.Figures = map[string]result.Figure{}
		}
		c.Figures[name] = s.figure(name)
	}
	c.Series = maps.Clone(s.middle().Series)
	for _, op := range operations {
		t, err := s.times(op.key)
		if err != nil {
			return c, err
		}
		*op.of(&c) = t
	}
	return c, nil
}
