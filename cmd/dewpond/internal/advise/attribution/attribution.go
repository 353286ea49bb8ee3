// Package attribution says what memory costs by what a CPU profile has: which part of the samples fell
// into allocating, marking, sweeping, clearing, pools and locks.
package attribution

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
)

// A Kind is a kind of work that memory makes.
type Kind struct {
	Name string // in JSON
	What string // one line
	is   func(function string) bool
}

// The indices of kinds that are looked for in another way.
const (
	marking     = 1
	idleMarking = 2
)

// Kinds are those that are told apart. A sample is of the first one that its stack has, from the innermost
// frame outwards. So the shares add up: clearing within an allocation is clearing.
var Kinds = []Kind{
	{"allocation", "mallocgc and below, without what follows here", allocates},
	{"marking", "the collector's workers, and goroutines that assist", marks},
	{"idle_marking", "the same on processors that had nothing else to do: it costs nobody anything", nil},
	{"sweeping", "finding what a collection has left free", sweeps},
	{"clearing", "zeroing memory: fresh pages fault here", clears},
	{"returning", "giving free memory back to the system", returns},
	{"pool_operations", "Get and Put of pools, with what Reset and New do", pools},
	{"lock_waits", "spinning for locks: who sleeps for one uses no processor", locks},
	{"page_faults", "the kernel, as it makes pages", faults},
}

func begins(function string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	return false
}

func allocates(f string) bool {
	return begins(f, "runtime.mallocgc", "runtime.newobject", "runtime.makeslice", "runtime.(*mheap).alloc", "runtime.(*mcache).refill", "runtime.persistentalloc")
}

func marks(f string) bool {
	return begins(f, "runtime.gcBgMark", "runtime.gcDrain", "runtime.gcAssist", "runtime.scan", "runtime.greyobject", "runtime.markroot", "runtime.gcMark",
		"runtime.gcStart", "runtime.wbBuf", "runtime.gcWriteBarrier", "runtime.bulkBarrier", "runtime.(*gcWork)", "runtime.gcw", "runtime.tryDeferToSpanScan")
}

func sweeps(f string) bool {
	return begins(f, "runtime.bgsweep", "runtime.sweepone", "runtime.(*sweepLocked)", "runtime.(*mspan).sweep", "runtime.deductSweepCredit", "runtime.(*mheap).reclaim")
}

func clears(f string) bool { return begins(f, "runtime.memclr") }

func returns(f string) bool {
	return begins(f, "runtime.bgscavenge", "runtime.(*pageAlloc).scavenge", "runtime.(*scavengerState)", "runtime.sysUnused")
}

func pools(f string) bool {
	return begins(f, "sync.(*Pool).", "sync.(*poolChain).", "sync.(*poolDequeue).", "sync.poolCleanup", "sync.indexLocal",
		"github.com/dewpond/dewpond.(*BytePool).", "github.com/dewpond/dewpond.(*Pool[", "github.com/dewpond/dewpond.(*SlicePool[", "github.com/dewpond/dewpond.(*BodyPool).",
		"github.com/dewpond/dewpond/internal/magazine.", "github.com/dewpond/dewpond/internal/admission.", "github.com/dewpond/dewpond/internal/decay.",
		"github.com/dewpond/dewpond/dewsync.", "github.com/valyala/bytebufferpool.")
}

func locks(f string) bool {
	return begins(f, "runtime.lock2", "runtime.unlock2", "sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).unlockSlow",
		"sync.(*RWMutex).", "runtime.semacquire", "runtime.semrelease", "runtime.sync_runtime_Sem", "internal/sync.runtime_Sem")
}

// The kernel's frames, which profiles of perf have and those of Go do not.
func faults(f string) bool {
	return begins(f, "asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "handle_mm_fault", "do_page_fault", "clear_page", "do_anonymous_page", "__handle_mm_fault")
}

// kernel reports whether a function is of the kernel that any profile with its frames has.
func kernel(f string) bool {
	return begins(f, "entry_SYSCALL", "do_syscall_64", "asm_", "el0t_64_sync")
}

// ErrType means that a profile is of something else.
var ErrType = errors.New("it has no samples of processor time, so it is no CPU profile: give /debug/pprof/profile?seconds=30")

// ErrDamaged means that a profile says what cannot be.
var ErrDamaged = errors.New("it has more samples than any profile: it is damaged, collect it anew")

const mostSamples = 1 << 50

// least is the fewest samples from which shares are given: one in a hundred would be one sample.
const least = 100

// A Counter counts the samples of a profile, which may come in pieces. The zero Counter has counted none.
type Counter struct {
	samples, nanoseconds int64
	by                   [16]int64 // Kinds
	kernel               bool
	known                map[string]int // functions that were looked at
}

// Add counts the samples of a profile or of a piece of it.
func (c *Counter) Add(p *profile.Profile) error {
	count, cpu := -1, -1
	for i, t := range p.SampleType {
		switch {
		case t.Type == "samples" && t.Unit == "count":
			count = i
		case t.Type == "cpu" && t.Unit == "nanoseconds":
			cpu = i
		}
	}
	if count < 0 || cpu < 0 {
		return ErrType
	}
	for _, s := range p.Sample {
		if s.Value[count] <= 0 {
			continue
		}
		if s.Value[count] > mostSamples || c.samples > mostSamples {
			return ErrDamaged
		}
		c.samples += s.Value[count]
		c.nanoseconds += s.Value[cpu]
		if kind := c.kindOf(s); kind >= 0 {
			c.by[kind] += s.Value[count]
		}
	}
	return nil
}

// KindOf returns the name of a sample's kind, or "" for what memory does not cost.
func (c *Counter) KindOf(s *profile.Sample) string {
	if kind := c.kindOf(s); kind >= 0 {
		return Kinds[kind].Name
	}
	return ""
}

// kindOf returns the index of a sample's kind, or -1.
func (c *Counter) kindOf(s *profile.Sample) int {
	found := -1
	for _, location := range s.Location {
		for _, line := range location.Line {
			switch {
			case line.Function == nil:
			case found < 0:
				if found = c.kindOfFunction(line.Function.Name); found >= 0 && found != marking {
					return found
				}
			case line.Function.Name == "runtime.gcDrainMarkWorkerIdle":
				return idleMarking
			}
		}
	}
	return found
}

func (c *Counter) kindOfFunction(name string) int {
	if kind, ok := c.known[name]; ok {
		return kind
	}
	kind := slices.IndexFunc(Kinds, func(k Kind) bool { return k.is != nil && k.is(name) })
	if c.known == nil {
		c.known = map[string]int{}
	}
	c.known[name] = kind
	c.kernel = c.kernel || kernel(name) || faults(name)
	return kind
}

// A Share is the part of a profile that is of one kind.
type Share struct {
	Kind    string            `json:"kind"`
	Samples int64             `json:"samples"`
	Share   estimate.Estimate `json:"share"` // 0 to 1
	what    string
}

// What is one line on the kind.
func (s Share) What() string { return s.what }

// Shares are all of a profile.
type Shares struct {
	Samples int64   `json:"samples"`
	Seconds float64 `json:"cpu_seconds"`
	Kinds   []Share `json:"kinds"`
	Memory  Share   `json:"memory"` // all of them together, without idle_marking
}

// Shares returns the shares of what was counted.
func (c *Counter) Shares() Shares {
	all := Shares{Samples: c.samples, Seconds: float64(c.nanoseconds) / 1e9}
	of := func(name, what string, n int64) Share {
		return Share{Kind: name, what: what, Samples: n, Share: share(n, c.samples)}
	}
	sum := int64(0)
	for i, k := range Kinds {
		s := of(k.Name, k.What, c.by[i])
		if k.Name == "page_faults" && !c.kernel {
			s.Share = estimate.CannotTell("a CPU profile of Go has no frames of the kernel: they are in the functions that touched the pages, mostly clearing; the faults of --pid are counted")
		}
		all.Kinds = append(all.Kinds, s)
		if i != idleMarking {
			sum += c.by[i]
		}
	}
	all.Memory = of("memory", "all of these together, without idle marking", sum)
	return all
}

// Read returns the shares of a profile.
func Read(p *profile.Profile) (Shares, error) {
	var c Counter
	if err := c.Add(p); err != nil {
		return Shares{}, err
	}
	return c.Shares(), nil
}

// share returns the share of which n of all samples are, with Wilson's interval.
func share(n, all int64) estimate.Estimate {
	if all < least {
		return estimate.CannotTell("%d samples are too few, at least %d are needed: profile for longer, or under load", all, least)
	}
	const z = 1.959964
	size := float64(all)
	p := float64(n) / size
	middle := (p + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	return estimate.Estimate{Low: min(p, max(0, middle-half)), Mid: p, High: max(p, min(1, middle+half))}
}
