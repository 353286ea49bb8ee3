package experiments

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit/child"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// containers runs pools under a limit of the processors: a real control group where the machine
// allows one, and GOMAXPROCS changed at run time.
var containers = experiment.Experiment{
	ID:       "containers",
	Question: "What must a pool know of a container's CPU limit?",
	Claims: []experiment.Claim{{
		ID: "containers/set", Text: "GOMAXPROCS must be set from the limit: half a processor makes 1 by the code's comment and by the table's min(4, ceil(limit)), and floor(limit) by the diagram", Publication: sizing, Judge: judgeContainersSet, Reach: experiment.Reach{
			Holds: experiment.Standing{experiment.At("GOMAXPROCS 1", "procs_of_half"): experiment.At("GOMAXPROCS 1", "procs_of_ceil")}, Fails: experiment.Itself(),
		},
	}, {
		ID: "containers/follows", Text: "since Go 1.25 the runtime follows the limit of its control group", Publication: release125, Judge: judgeContainersFollows, Reach: experiment.Reach{
			Ceiling: true, Holds: experiment.Standing{experiment.At("control group", "procs_in_group"): experiment.At("control group", "procs_that_follow")},
			Fails: experiment.Standing{experiment.At("control group", "procs_in_group"): experiment.At("control group", "procs_before")},
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
	Cases:  []string{"GOMAXPROCS 1", "GOMAXPROCS 2", "GOMAXPROCS 4", "changing", "control group"},
	Rounds: 3,
	Each:   300 * time.Millisecond,
	Run:    runContainers,
	Plots: []experiment.Plot{
		{Figure: "dewpond_hit_share", Title: "Hits of a pool of dewpond", Note: "64 goroutines, each with one block at a time"},
		{Figure: "sync_hit_share", Title: "Hits of a sync.Pool", Note: "the same"},
	},
}

// cpuGroups is where control groups of version 2 are.
const cpuGroups = "/sys/fs/cgroup"

func runContainers(r *experiment.Run) error {
	half := 0.5
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(int(half)) // 0 asks and sets nothing
	r.Set("procs_of_half", float64(runtime.GOMAXPROCS(0)))
	runtime.GOMAXPROCS(min(4, int(math.Ceil(half))))
	r.Set("procs_of_ceil", float64(runtime.GOMAXPROCS(0)))
	runtime.GOMAXPROCS(before)
	r.Set("procs_before", float64(before))
	if r.Case == "control group" {
		return inControlGroup(r)
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

// inControlGroup joins a group that may use half a processor, and asks a child in it what Go has
// made of that. Where no group can be made, it sets no figure of the limit. A test makes none: it
// leaves the machine as it is.
func inControlGroup(r *experiment.Run) error {
	if r.Scale == experiment.Tiny {
		return nil
	}
	if os.Getenv("DEWPOND_LAB_IN_GROUP") != "" {
		r.Set("procs_in_group", float64(runtime.GOMAXPROCS(0)))
		return nil
	}
	// The runtime rounds a limit up, and takes two at the least.
	r.Set("procs_that_follow", float64(min(runtime.NumCPU(), 2)))
	joined, leave := joinGroup()
	if !joined {
		return nil
	}
	defer leave()
	os.Setenv("DEWPOND_LAB_IN_GROUP", "1")
	var inside result.Round
	if err := child.Run(r.Context, []string{"round"}, r.Task, &inside); err != nil {
		return err
	}
	r.Set("procs_in_group", inside.Figures["procs_in_group"])
	return nil
}

// joinGroup moves this process into a new control group that may use half a processor, of version
// 2 or 1, and reports whether it could. leave moves it back and removes the group.
func joinGroup() (joined bool, leave func()) {
	pid := strconv.Itoa(os.Getpid())
	for _, version := range []struct{ dir, limit, value string }{
		{cpuGroups, "cpu.max", "50000 100000"},
		{filepath.Join(cpuGroups, "cpu"), "cpu.cfs_quota_us", "50000"},
	} {
		group := filepath.Join(version.dir, "dewpond-lab-"+pid)
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		leave := func() {
			write(filepath.Join(version.dir, "cgroup.procs"), pid)
			os.Remove(group) // only without a process
		}
		if write(filepath.Join(group, version.limit), version.value) == nil && write(filepath.Join(group, "cgroup.procs"), pid) == nil {
			return true, leave
		}
		leave()
	}
	return false, nil
}

// write writes to a file of a control group. It makes none: where the directory is no control
// group there is no such file.
func write(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
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
	group, before, follows := experiment.At("control group", "procs_in_group"), experiment.At("control group", "procs_before"), experiment.At("control group", "procs_that_follow")
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
