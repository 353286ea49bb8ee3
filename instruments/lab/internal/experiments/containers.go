package experiments

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/child"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/lab/internal/cgroup"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// containers runs pools under a container's limits: in real control groups of processors and of memory where
// the machine allows them, and with GOMAXPROCS changed at run time.
var containers = experiment.Experiment{
	ID:       "containers",
	Question: "What must a pool know of a container's limits, of processors and of memory?",
	Claims: []experiment.Claim{{
		ID: "containers/set", Text: "GOMAXPROCS must be set from the limit: half a processor makes 1 by the code's comment and by the table's min(4, ceil(limit)), and floor(limit) by the diagram", Publication: sizing, Judge: judgeContainersSet, Reach: experiment.Reach{
			Holds: experiment.Standing{experiment.At("GOMAXPROCS 1", "procs_of_half"): experiment.At("GOMAXPROCS 1", "procs_of_ceil")}, Fails: experiment.Itself(),
		},
	}, {
		ID: "containers/follows", Text: "since Go 1.25 the runtime follows the limit of its control group", Publication: release125, Judge: judgeContainersFollows, Reach: experiment.Reach{
			Ceiling: true, Holds: experiment.Standing{experiment.At(halfCPU, "procs_in_group"): experiment.At(halfCPU, "procs_that_follow")},
			Fails: experiment.Standing{experiment.At(halfCPU, "procs_in_group"): experiment.At(halfCPU, "procs_before")},
		},
	}, {
		ID: "containers/cpuset", Text: "the runtime follows the processors that its control group may run on, also where they change meanwhile", Publication: release125, Judge: judgeContainersCPUSet, Reach: experiment.Reach{
			Ceiling: true,
			Holds:   experiment.Standing{experiment.At(oneCPU, "procs_in_group"): experiment.At(oneCPU, "procs_allowed"), experiment.At(oneCPU, "procs_widened"): experiment.At(oneCPU, "procs_before")},
			Fails:   experiment.Standing{experiment.At(oneCPU, "procs_in_group"): experiment.At(oneCPU, "procs_before")},
		},
	}, {
		ID: "containers/killed", Text: "in a burst the kernel kills the process whose pool has no bound, at its container's limit of memory; one whose pool has a bound lives", Publication: ours, Judge: judgeContainersKilled, Reach: experiment.Reach{
			Holds: experiment.Itself(),
			Fails: experiment.Standing{experiment.At(unbound+inMemory, "oom_kills"): experiment.At("sync.Pool behind a bound"+inMemory, "oom_kills")},
		},
	}, {
		ID: "containers/reuse", Text: "a pool needs GOMAXPROCS x objects for each P to reuse more than 85 %", Publication: sizing, Judge: judgeContainersReuse, Reach: experiment.Reach{
			Holds: experiment.Standing{
				experiment.At("GOMAXPROCS 1", "sync_hit_share"): experiment.At("GOMAXPROCS 1", "forgetful_hit_share"), experiment.At("GOMAXPROCS 2", "sync_hit_share"): experiment.At("GOMAXPROCS 2", "forgetful_hit_share"),
				experiment.At("GOMAXPROCS 4", "sync_hit_share"): experiment.At("GOMAXPROCS 4", "forgetful_hit_share"), experiment.At("changing", "sync_hit_share"): experiment.At("changing", "forgetful_hit_share"),
			},
			Fails: experiment.Itself(),
		},
	}},
	Cases: []string{
		"GOMAXPROCS 1", "GOMAXPROCS 2", "GOMAXPROCS 4", "changing", halfCPU, oneCPU,
		unbound + inMemory, "sync.Pool behind a bound" + inMemory, budgeted + inMemory,
	},
	Rounds: 3,
	Each:   300 * time.Millisecond,
	Run:    runContainers,
	Plots: []experiment.Plot{
		{Figure: "dewpond_hit_share", Title: "Hits of a pool of dewpond", Note: "64 goroutines, each with one block at a time"},
		{Figure: "sync_hit_share", Title: "Hits of a sync.Pool", Note: "the same"},
		{Figure: "peak_bytes", Title: "Peak of memory in a group of 96 MiB", Note: "a burst of 256 MiB of packets while the worker stalls; bounds are 64 packets of 64 KiB"},
	},
}

// The cases in a control group of processors' time, and of processors.
const (
	halfCPU = "half a processor"
	oneCPU  = "one processor"
)

func runContainers(r *experiment.Run) error {
	kind, burst := strings.CutSuffix(r.Case, inMemory)
	if dir := os.Getenv(insideGroup); dir != "" {
		switch {
		case burst:
			return stallInside(r, kind, dir)
		case r.Case == oneCPU:
			return widenedInside(r, dir)
		}
		return busyInside(r)
	}
	if burst {
		return ofMemory(r, kind)
	}
	half := 0.5
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(int(half)) // 0 asks and sets nothing
	r.Set("procs_of_half", float64(runtime.GOMAXPROCS(0)))
	runtime.GOMAXPROCS(min(4, int(math.Ceil(half))))
	r.Set("procs_of_ceil", float64(runtime.GOMAXPROCS(0)))
	runtime.GOMAXPROCS(before)
	r.Set("procs_before", float64(before))
	switch r.Case {
	case halfCPU:
		return ofTime(r)
	case oneCPU:
		return ofOneCPU(r)
	}
	changing := r.Case == "changing"
	if !changing {
		procs, err := strconv.Atoi(r.Case[len("GOMAXPROCS "):])
		if err != nil {
			return err
		}
		runtime.GOMAXPROCS(procs)
	}
	ours := new(dewpond.BytePool)
	defer ours.Close()
	r.Set("dewpond_hit_share", hitsBeside(r, changing, func() { ours.Put(ours.Get(4096)) }, func() float64 { return ours.Stats().HitRate() }))
	var news, gets atomic.Int64
	pool := sync.Pool{New: func() any { news.Add(1); return new([4096]byte) }}
	var made, asked atomic.Int64
	forgetful := sync.Pool{New: func() any { made.Add(1); return new([4096]byte) }}
	r.Set("forgetful_hit_share", hitsBeside(r, changing, func() {
		b := forgetful.Get()
		if asked.Add(1)%4 != 0 { // it loses one of four
			forgetful.Put(b)
		}
	}, func() float64 { return 1 - float64(made.Load())/float64(asked.Load()) }))
	r.Set("sync_hit_share", hitsBeside(r, changing, func() { gets.Add(1); pool.Put(pool.Get()) }, func() float64 { return 1 - float64(news.Load())/float64(gets.Load()) }))
	return nil
}

// hitsBeside has many goroutines use a pool for a while, changing GOMAXPROCS meanwhile if asked,
// and returns the hit rate.
func hitsBeside(r *experiment.Run, changing bool, use func(), rate func() float64) float64 {
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				use()
				if i%100 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	const steps = 6
	for i := range steps {
		if changing {
			runtime.GOMAXPROCS([]int{1, 4, 2}[i%3])
		}
		time.Sleep(max(r.Span(150*time.Millisecond)/steps, time.Millisecond))
	}
	stop.Store(true)
	wg.Wait()
	return rate()
}

// insideGroup is in the environment of a child, and has the directory of the control group that its case is
// about.
const insideGroup = "DEWPOND_LAB_GROUP"

// runInside runs the case in a child that knows the group.
func runInside(r *experiment.Run, g *cgroup.Group) (inside result.Round, err error) {
	os.Setenv(insideGroup, g.Dir)
	err = child.Run(r.Context, []string{"round"}, r.Task, &inside)
	return inside, err
}

// startInside moves this process into the group, so that a child begins there, as a container's does.
func startInside(r *experiment.Run, g *cgroup.Group) (result.Round, error) {
	if err := cgroup.Enter(g.Dir); err != nil {
		return result.Round{}, err
	}
	inside, err := runInside(r, g)
	return inside, errors.Join(err, g.Leave())
}

// ofTime asks a child in a group that may use half a processor what Go has made of that, and the kernel how
// often it had to wait. A test makes no group: it leaves the machine as it is.
func ofTime(r *experiment.Run) (err error) {
	// The runtime rounds a limit up, and takes two at the least.
	r.Set("procs_that_follow", float64(min(runtime.NumCPU(), 2)))
	if r.Scale == experiment.Tiny {
		return nil
	}
	g, err := cgroup.OfTime(0.5)
	if err != nil {
		return experiment.NotHere(err)
	}
	defer func() { err = errors.Join(err, g.Remove()) }()
	inside, err := startInside(r, g)
	if err != nil {
		return err
	}
	r.Set("procs_in_group", inside.Figures["procs_in_group"])
	periods, throttled, err := g.Throttled()
	if periods > 0 {
		r.Set("throttled_share", float64(throttled)/float64(periods))
	}
	return err
}

// busyInside is the child of ofTime: it says how many Ps it has, and has all of them work.
func busyInside(r *experiment.Run) error {
	procs := runtime.GOMAXPROCS(0)
	r.Set("procs_in_group", float64(procs))
	began := kit.Now()
	var working sync.WaitGroup
	for range procs {
		working.Go(func() {
			for kit.Now()-began < r.Span(time.Second) {
			}
		})
	}
	working.Wait()
	return nil
}

// ofOneCPU asks a child in a group that may run on one processor what Go has made of that, and of a change.
func ofOneCPU(r *experiment.Run) (err error) {
	r.Set("procs_allowed", 1)
	if r.Scale == experiment.Tiny {
		return nil
	}
	g, err := cgroup.OfOneCPU()
	if err != nil {
		return experiment.NotHere(err)
	}
	defer func() { err = errors.Join(err, g.Remove()) }()
	inside, err := startInside(r, g)
	if err != nil {
		return err
	}
	for _, name := range []string{"procs_in_group", "procs_widened", "followed_ns"} {
		r.Set(name, inside.Figures[name])
	}
	return nil
}

// mostToFollow is how long a runtime has to see that it has more processors. Go 1.25 and later look once a
// second.
const mostToFollow = 20 * time.Second

// widenedInside is the child of ofOneCPU: it says how many Ps it has, widens its group, and waits until it has
// others.
func widenedInside(r *experiment.Run, dir string) error {
	began, procs := kit.Now(), runtime.GOMAXPROCS(0)
	r.Set("procs_in_group", float64(procs))
	if err := cgroup.Widen(dir); err != nil {
		return err
	}
	for runtime.GOMAXPROCS(0) == procs && kit.Now()-began < mostToFollow && r.Context.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	r.Set("procs_widened", float64(runtime.GOMAXPROCS(0)))
	r.Set("followed_ns", float64(kit.Now()-began))
	return nil
}

func judgeContainersSet(m experiment.Measured) experiment.Finding {
	after, before, ceil := experiment.At("GOMAXPROCS 1", "procs_of_half"), experiment.At("GOMAXPROCS 1", "procs_before"), experiment.At("GOMAXPROCS 1", "procs_of_ceil")
	if f, lacking := m.Lacking(after, before, ceil); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("of a limit of half a processor the printed int(limit) leaves GOMAXPROCS at %s, for int(0.5) is 0 and 0 only asks", m.Text(after)),
		Control:  fmt.Sprintf("min(4, ceil(limit)) makes it %s; without either it is %s", m.Text(ceil), m.Text(before)),
		Do:       "Set nothing. If you must, round up: the three forms of the article disagree below one processor, and only ceil does what its comment says.",
	}
	if m.Median(after.Case, after.Figure) == 1 {
		f.Verdict, f.Why = experiment.Reproduced, "half a processor makes 1"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "not with the code: it says that it makes 1 of half a processor, and sets nothing; the table's form does"
	return f
}

func judgeContainersFollows(m experiment.Measured) experiment.Finding {
	group, before, follows := experiment.At(halfCPU, "procs_in_group"), experiment.At(halfCPU, "procs_before"), experiment.At(halfCPU, "procs_that_follow")
	if f, lacking := m.Lacking(before, follows); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: "no control group could be made here",
		Control:  fmt.Sprintf("GOMAXPROCS %s without a limit; a runtime that follows half a processor has %s, for it takes two at the least", m.Text(before), m.Text(follows)),
		Do:       "Leave GOMAXPROCS alone; dewpond's shards follow it.",
	}
	if m.Has(group) {
		f.Measured = fmt.Sprintf("GOMAXPROCS %s in a control group of half a processor", m.Text(group))
	}
	if throttled := experiment.At(halfCPU, "throttled_share"); m.Has(throttled) {
		f.Measured += fmt.Sprintf(", which the kernel stops in %s of its periods where all Ps work", percent(m, throttled))
	}
	switch {
	case m.Median(before.Case, before.Figure) <= m.Median(follows.Case, follows.Figure):
		f.Verdict, f.Why = experiment.CannotTell, "the control has no more processors than a runtime keeps that follows the limit: it takes a machine of three or more"
	case !m.Has(group):
		f.Verdict, f.Why = experiment.CannotTell, "no control group could be made here"
	case m.Median(group.Case, group.Figure) == m.Median(follows.Case, follows.Figure):
		f.Verdict, f.Why = experiment.Reproduced, "it follows"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "it does not follow"
	}
	return f
}

func judgeContainersCPUSet(m experiment.Measured) experiment.Finding {
	before, group, widened := experiment.At(oneCPU, "procs_before"), experiment.At(oneCPU, "procs_in_group"), experiment.At(oneCPU, "procs_widened")
	if f, lacking := m.Lacking(before, group, widened); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("GOMAXPROCS %s in a group that may run on one processor, and %s when it may run on all, after %s", m.Text(group), m.Text(widened), m.Text(experiment.At(oneCPU, "followed_ns"))),
		Control:  fmt.Sprintf("GOMAXPROCS %s without a group", m.Text(before)),
		Do:       "Set nothing: a GOMAXPROCS that was set, in the environment too, is followed no more.",
	}
	all := m.Median(before.Case, before.Figure)
	switch {
	case all <= 1:
		f.Verdict, f.Why = experiment.CannotTell, "the control has no more than one processor either"
	case m.Median(group.Case, group.Figure) == 1 && m.Median(widened.Case, widened.Figure) == all:
		f.Verdict, f.Why = experiment.Reproduced, "it follows, also while it runs"
	case m.Median(group.Case, group.Figure) == 1:
		f.Verdict, f.Why = experiment.DirectionOnly, "it follows at the start alone"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "it does not follow"
	}
	return f
}

func judgeContainersReuse(m experiment.Measured) experiment.Finding {
	one, changing := experiment.At("GOMAXPROCS 1", "sync_hit_share"), experiment.At("changing", "dewpond_hit_share")
	if f, lacking := m.Lacking(one, changing); lacking {
		return f
	}
	f := experiment.Finding{Control: fmt.Sprintf("dewpond while GOMAXPROCS changes: %s", percent(m, changing)), Do: "Size nothing by GOMAXPROCS; what is out at once decides."}
	worst, best := 1.0, 0.0
	for i, c := range []string{"GOMAXPROCS 1", "GOMAXPROCS 2", "GOMAXPROCS 4", "changing"} {
		v := experiment.At(c, "sync_hit_share")
		if i > 0 {
			f.Measured += ", "
		}
		f.Measured += c + " " + percent(m, v)
		worst, best = min(worst, m.Figure(v).Min), max(best, m.Figure(v).Max)
	}
	f.Measured = "a sync.Pool, whose size cannot be set, hits: " + f.Measured
	if worst > 0.85 {
		f.Verdict, f.Why = experiment.NotReproduced, "it reuses more than 85 % at every GOMAXPROCS without any size"
		return f
	}
	if best <= 0.85 {
		f.Verdict, f.Why = experiment.Reproduced, "without a size it reuses less than 85 % everywhere"
		return f
	}
	f.Verdict, f.Why = experiment.DirectionOnly, "without a size it reuses less than 85 % somewhere"
	return f
}
