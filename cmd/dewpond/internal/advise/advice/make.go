package advice

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/evidence"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/model"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pools"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
)

// Facts are what is known of a program.
type Facts struct {
	Window *sites.Window
	Heap   model.Heap        // without collections where they are not known
	Known  bool              // whether Heap has the collections of the window
	Set    bool              // whether something says how GOGC and the limit are set; else they are taken to be the defaults
	Live   estimate.Estimate // what collections have found alive, where that was seen; 0 where it follows from the goal
	Goal   estimate.Estimate // of which Heap has the middle; 0 where it was read
	Forced uint64            // collections that the program has asked for
	Quiet  bool              // whether it had times without work
	CPU    CPU
	Notes  []string                                    // what could not be had
	Pools  []pools.Seen                                // of the pools that the program has
	Source func(sites.Frame) (evidence.Finding, error) // what a line makes
}

// A CPU is where the processors' time has gone.
type CPU struct {
	From       string                          // what says so
	Collector  estimate.Estimate               // a share, without the collector's idle-time work
	Allocation estimate.Estimate               // a share, of allocating
	Sites      map[sites.Key]estimate.Estimate // of that, by site; nil without a CPU profile
	None       estimate.Estimate               // of a site that has no sample
}

// Settings are what the user may set.
type Settings struct {
	MinGain float64 // the share of the collector's CPU below which a site is not worth it
	Idle    float64 // bytes that the pools are reckoned to keep idle; below 0: by what lives
	Stacks  bool
}

// felt is the share of the CPU below which nobody feels it.
const felt = 0.02

// crowded is the share of the memory limit above which the collector has too little room.
const crowded = 0.7

// Make says what to pool.
func Make(f Facts, s Settings) Document {
	d := Document{
		Collector: f.collector(),
		Sites:     []Site{},
		Seconds:   f.Window.Duration.Seconds(),
		Rate:      f.Window.Rate,

		Allocation: f.CPU.Allocation,
		Notes:      f.Notes,
		Pools:      f.Pools,
	}
	for _, at := range f.Window.Sites {
		d.Sites = append(d.Sites, f.site(at, s))
	}
	d.rank()
	d.Together = f.together(d.Sites, s)
	d.Verdict = f.verdict(d)
	if d.Verdict == Nothing && !d.unfelt() {
		if d.unsure = f.unsure(d, s); d.unsure != "" {
			d.Verdict = CannotTell
		}
	}
	return d
}

// noCollections says what to do where collections are not known.
const noCollections = "give what /debug/pprof/heap?debug=1 answers at the beginning and at the end of the window as well, or a gctrace of it, or the URL"

func (f Facts) collector() Collector {
	c := Collector{
		Forced: f.Forced, CPUShare: f.CPU.Collector, CPUFrom: f.CPU.From,
		Live: f.Window.Live, GOGC: f.Heap.GOGC, Limit: f.Heap.Limit, SettingKnown: f.Set,
	}
	if !f.Known {
		c.PerSecond, c.Goal = estimate.CannotTell(noCollections), estimate.CannotTell(noCollections)
		return c
	}
	c.Collections = uint64(f.Heap.Collections)
	c.PerSecond = estimate.Exact(f.Heap.Collections / f.Heap.Seconds)
	c.Live, c.Goal = estimate.Exact(f.Heap.LiveBytes()), estimate.Exact(f.Heap.Goal)
	if f.Live.Mid > 0 {
		c.Live = f.Live
	}
	if f.Goal.Mid > 0 {
		c.Goal = f.Goal
	}
	return c
}

// site says what to do with one site.
func (f Facts) site(at *sites.Site, set Settings) Site {
	s := Site{
		Function: at.Function, File: at.File, Line: at.Line,
		BytesPerSecond: at.Bytes, ObjectsPerS: at.Objects, Samples: at.Samples,
		Live: at.Live, Sizes: at.Sizes,
		key: at.Key, share: at.Share, idle: f.idle(at, set),
	}
	if f.Brief(at) {
		s.MeanLifeBelow = at.Life.High
	} else {
		s.MeanLife = &at.Life
	}
	var sampled bool
	if s.AllocationCPU, sampled = f.CPU.Sites[at.Key]; !sampled {
		s.AllocationCPU = f.CPU.None
	}
	f.gain(&s)
	finding := f.find(at)
	s.decide(f, at, finding, set)
	if set.Stacks && len(at.Stacks) > 0 {
		for _, frame := range at.Stacks[0].Callers {
			s.Stack = append(s.Stack, fmt.Sprintf("%s:%d %s", frame.Short(), frame.Line, frame.Function))
		}
	}
	return s
}

// idle returns how many bytes a pool of the site would keep idle: between two requests as many as are
// alive now. What lives for long is in use all the time, unless it is of requests that take long. Of what
// lives for a short time next to none may be alive, and the rest garbage that the collector has not found yet.
func (f Facts) idle(at *sites.Site, set Settings) estimate.Estimate {
	switch {
	case set.Idle >= 0:
		return estimate.Exact(set.Idle)
	case !at.Live.Known():
		return at.Live
	case at.Below == 0 && at.Life.Mid >= longLived:
		return estimate.Estimate{High: 3 * float64(f.Window.Rate)} // as little as the sample may have missed
	case f.Brief(at), f.lasting(at):
		return estimate.Estimate{High: at.Live.High}
	}
	return at.Live
}

// Brief reports whether a site's blocks live for so short a time that they cannot be told from those
// that were garbage already: a collection keeps what is allocated while it runs.
func (f Facts) Brief(at *sites.Site) bool {
	return at.Below > 0 || f.Known && at.Life.Known() && at.Life.Mid < f.Heap.Seconds/f.Heap.Collections/2
}

// gain says what the site's bytes cost the collector.
func (f Facts) gain(s *Site) {
	if !f.Known {
		s.Saved = estimate.CannotTell(noCollections)
		s.CollectorCPU = s.share // the goal stays, and so the collections go with the bytes
		s.BreakEven = estimate.CannotTell(noCollections)
		return
	}
	now := f.Heap.Collections
	then := f.Heap.Then(s.share, s.idleOrNone(), f.faster(s.AllocationCPU.Mid, s.share.Mid))
	s.CollectorCPU = then.Mapped(func(c float64) float64 { return (now - c) / now })
	s.Saved = s.CollectorCPU.Mapped(func(share float64) float64 { return share * now / f.Heap.Seconds })
	if most := f.Heap.BreakEven(s.share.Mid); math.IsInf(most, 1) {
		s.BreakEven = estimate.CannotTell("without a memory limit idle bytes raise the goal, and cost no collections")
	} else {
		s.BreakEven = s.share.Mapped(f.Heap.BreakEven)
	}
}

// faster returns how many times less processor time the program's work takes without so much of it for
// allocation, and a share of the collector's. It is 1 without a CPU profile.
func (f Facts) faster(allocation, share float64) float64 {
	if f.CPU.Sites == nil {
		return 1
	}
	const most = 0.8 // beyond, too little is left for a ratio
	return 1 / (1 - min(most, allocation+share*f.CPU.Collector.Mid))
}

// idleOrNone returns the idle bytes, or 0 where they are not known.
func (s *Site) idleOrNone() estimate.Estimate {
	if !s.idle.Known() {
		return estimate.Estimate{}
	}
	return s.idle
}

// find says what a site makes.
func (f Facts) find(at *sites.Site) evidence.Finding {
	if len(at.Stacks) == 0 {
		return evidence.Finding{Tool: evidence.Unknown, Why: "its stack is not in the profile"}
	}
	main := at.Stacks[0]
	if !at.Own {
		return evidence.Finding{Tool: evidence.None, Why: "not in your module: package " + at.Package() + " allocates it by itself"}
	}
	if found, ok := evidence.OfCallers(main.Callers); ok {
		return found
	}
	if found, ok := evidence.OfCallees(main.Callees); ok {
		return found
	}
	if len(main.Callees) > 0 {
		outer := main.Callees[len(main.Callees)-1]
		return evidence.Finding{Tool: evidence.Unknown, Why: "it is " + outer.Function + ", called here, that allocates: see whether that takes memory of yours"}
	}
	found, err := f.Source(at.Frame)
	if err != nil {
		return evidence.Finding{Tool: evidence.Unknown, Why: err.Error()}
	}
	return found
}

// rank puts the sites that are worth it first, by what they save, and the others behind them by bytes.
func (d *Document) rank() {
	slices.SortStableFunc(d.Sites, func(a, b Site) int {
		return cmp.Or(
			cmp.Compare(order(a), order(b)),
			cmp.Compare(b.BytesPerSecond.Mid, a.BytesPerSecond.Mid),
		)
	})
}

func order(s Site) int {
	if s.Advised() {
		return 0
	}
	return 1
}

// Advised reports whether the advice is to pool the site.
func (s Site) Advised() bool {
	return s.Advice != string(evidence.None) && s.Advice != string(evidence.Unknown)
}

// together says what all advised sites buy with each other.
func (f Facts) together(all []Site, set Settings) Together {
	t := Together{Sites: []int{}}
	var shares, idles []estimate.Estimate
	allocation := 0.0
	for i, s := range all {
		if s.Advised() {
			t.Sites = append(t.Sites, i+1)
			shares, idles = append(shares, s.share), append(idles, s.idleOrNone())
			allocation += s.AllocationCPU.Mid
		}
	}
	share := estimate.Sum(shares...)
	share.High, share.Mid = min(1, share.High), min(1, share.Mid)
	t.Idle = estimate.Sum(idles...)
	if set.Idle >= 0 {
		t.Idle = estimate.Exact(set.Idle)
	}
	if !f.Known {
		t.PerSecond = estimate.CannotTell(noCollections)
		return t
	}
	t.PerSecond = f.Heap.Then(share, t.Idle, f.faster(allocation, share.Mid)).Scaled(1 / f.Heap.Seconds)
	return t
}

// unsure returns why it cannot be told whether something is worth a pool where nothing is advised, or "" if it can.
func (f Facts) unsure(d Document, set Settings) string {
	if !slices.ContainsFunc(f.Window.Sites, func(at *sites.Site) bool { return at.Own }) {
		return "No line of your module is in the profile, so none can be advised: give the directory of the program's source, as in --src DIR. "
	}
	i := slices.IndexFunc(d.Sites, func(s Site) bool {
		return s.Advice == string(evidence.Unknown) && s.CollectorCPU.Known() && s.CollectorCPU.Mid >= set.MinGain
	})
	if i >= 0 {
		return "What a line makes that would be worth a pool is unknown: " + d.Sites[i].Why + ". "
	}
	return ""
}

func (f Facts) verdict(d Document) Verdict {
	cpu := d.cpu()
	switch {
	case f.Known && f.Heap.Limit > 0 && f.Heap.LiveBytes() > crowded*f.Heap.Limit:
		return Limit
	case cpu.Known() && cpu.High < felt:
		return Nothing
	case !f.Known && !cpu.Known():
		return CannotTell
	case len(d.Together.Sites) > 0:
		return Pool
	}
	return Nothing
}
