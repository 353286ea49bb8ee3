package sites

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"time"

	"github.com/google/pprof/profile"
)

// A Key tells sites apart: the innermost call of the user's own, or where there is none the
// innermost of all.
type Key struct {
	Frame
	Own bool
}

// A Class has what a profile says of the blocks of one size of a site. The numbers are of all blocks, as
// the runtime has reckoned them from its sample.
type Class struct{ Objects, Bytes, LiveObjects, LiveBytes int64 }

// Counts has what a profile says of a site.
type Counts struct {
	Classes map[int64]*Class // by the size that Go has allocated
	Stacks  map[string]*Stack
}

// A Stack is one way to a site and beyond, with the bytes that were allocated by it.
type Stack struct {
	Callees []Frame // of others, from the site to the allocation, the innermost first
	Callers []Frame // above the site, the innermost first
	Bytes   int64
}

// A Reading is one heap profile.
type Reading struct {
	Rate     int64         // one block in so many bytes is sampled
	At       time.Time     // of the profile
	Duration time.Duration // 0 if it counts since the start of the program
	Binary   string        // of the program
	BuildID  string
	Sites    map[Key]*Counts
}

// ErrNoSamples means that a profile is none of allocations.
var ErrNoSamples = errors.New("no allocations in it")

// Add adds a piece of a profile.
func (r *Reading) Add(p *profile.Profile, program Program) error {
	var index [4]int
	for i, name := range []string{"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"} {
		index[i] = -1
		for j, t := range p.SampleType {
			if t.Type == name {
				index[i] = j
			}
		}
	}
	if index[0] < 0 || index[1] < 0 {
		return ErrNoSamples
	}
	if p.Period <= 0 {
		return fmt.Errorf("%w: it does not say how many bytes stand for a sample", ErrNoSamples)
	}
	r.Rate, r.At, r.Duration = p.Period, time.Unix(0, p.TimeNanos), time.Duration(p.DurationNanos)
	if len(p.Mapping) > 0 {
		r.Binary, r.BuildID = path.Base(p.Mapping[0].File), p.Mapping[0].BuildID
	}
	if r.Sites == nil {
		r.Sites = map[Key]*Counts{}
	}
	for _, s := range p.Sample {
		size := int64(0)
		if n := s.NumLabel["bytes"]; len(n) > 0 {
			size = n[0]
		}
		var v Class
		for i, to := range []*int64{&v.Objects, &v.Bytes, &v.LiveObjects, &v.LiveBytes} {
			if index[i] >= 0 {
				*to = s.Value[index[i]]
			}
		}
		if size <= 0 { // another writer than Go's: the mean of the stack
			if v.Objects <= 0 || v.Bytes <= 0 {
				continue
			}
			size = v.Bytes / v.Objects
		}
		r.add(Frames(s), size, v, program)
	}
	return nil
}

func (r *Reading) add(stack []Frame, size int64, v Class, program Program) {
	if len(stack) == 0 {
		stack = []Frame{{Function: "unknown"}}
	}
	at, own := program.at(stack)
	key := Key{stack[at], own}
	counts := r.Sites[key]
	if counts == nil {
		counts = &Counts{Classes: map[int64]*Class{}, Stacks: map[string]*Stack{}}
		r.Sites[key] = counts
	}
	class := counts.Classes[size]
	if class == nil {
		class = new(Class)
		counts.Classes[size] = class
	}
	class.Objects += v.Objects
	class.Bytes += v.Bytes
	class.LiveObjects += v.LiveObjects
	class.LiveBytes += v.LiveBytes
	counts.noteStack(stack, at, v.Bytes)
}

// Site returns the site of a stack, whose innermost call comes first.
func (p Program) Site(stack []Frame) Key {
	if len(stack) == 0 {
		return Key{Frame: Frame{Function: "unknown"}}
	}
	at, own := p.at(stack)
	return Key{stack[at], own}
}

// at returns the place of a stack's site, and whether it is the user's own.
func (p Program) at(stack []Frame) (at int, own bool) {
	for i, f := range stack {
		if p.Owns(f) {
			return i, true
		}
	}
	return 0, false
}

// mostStacks is how many ways to a site are kept apart. The bytes of further ones are not said
// whose they are.
const mostStacks = 64

func (c *Counts) noteStack(stack []Frame, at int, bytes int64) {
	var buffer [1 << 10]byte
	name := buffer[:0]
	for _, f := range stack[:min(len(stack), at+4)] {
		name = append(append(name, f.Function...), ':')
		name = append(strconv.AppendInt(name, int64(f.Line), 10), ' ')
	}
	s := c.Stacks[string(name)]
	if s == nil {
		if len(c.Stacks) == mostStacks {
			return
		}
		s = &Stack{Callees: stack[:at], Callers: stack[at+1:]}
		c.Stacks[string(name)] = s
	}
	s.Bytes += bytes
}

// Sampled returns with which probability the runtime has sampled a block, by its size.
func (r *Reading) Sampled(size int64) float64 {
	if r.Rate <= 1 {
		return 1
	}
	return -math.Expm1(-float64(size) / float64(r.Rate))
}
