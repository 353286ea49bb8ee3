// Package made makes profiles as runtime/pprof writes them, for tests.
package made

import (
	"bytes"
	"time"

	"github.com/google/pprof/profile"
)

// A Call is one frame of a stack, at a line of a file.
type Call struct {
	Function, File string
	Line           int
}

// A Sample is what a stack has allocated, in blocks of one size.
type Sample struct {
	Stack         []Call // the innermost first
	Size          int64
	Objects, Live int64
}

// A Heap is a profile of the heap.
type Heap struct {
	Rate     int64
	At       time.Time
	Duration time.Duration
	Binary   string
	BuildID  string
	Samples  []Sample
}

// Rate is the default rate of sampling.
const Rate = 512 << 10

// Profile returns the profile.
func (h Heap) Profile() *profile.Profile {
	if h.Rate == 0 {
		h.Rate = Rate
	}
	if h.Binary == "" {
		h.Binary = "/srv/program"
	}
	p := &profile.Profile{
		PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}, Period: h.Rate,
		TimeNanos: h.At.UnixNano(), DurationNanos: h.Duration.Nanoseconds(),
		Mapping: []*profile.Mapping{{ID: 1, File: h.Binary, BuildID: h.BuildID, HasFunctions: true}},
	}
	for _, t := range []string{"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"} {
		unit := "bytes"
		if t[len(t)-1] == 's' {
			unit = "count"
		}
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: t, Unit: unit})
	}
	add(p, h.Samples, func(s Sample) *profile.Sample {
		return &profile.Sample{Value: []int64{s.Objects, s.Objects * s.Size, s.Live, s.Live * s.Size}, NumLabel: map[string][]int64{"bytes": {s.Size}}}
	})
	return p
}

// A CPU is a profile of the processor, with a sample a millisecond.
type CPU struct{ Samples []Sample }

// Profile returns the profile, in which Objects are samples.
func (c CPU) Profile() *profile.Profile {
	const period = 1e6
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: period,
		TimeNanos: 1, DurationNanos: int64(time.Second),
		Mapping: []*profile.Mapping{{ID: 1, File: "/srv/program", HasFunctions: true}},
	}
	add(p, c.Samples, func(s Sample) *profile.Sample {
		return &profile.Sample{Value: []int64{s.Objects, s.Objects * period}}
	})
	return p
}

func add(p *profile.Profile, samples []Sample, value func(Sample) *profile.Sample) {
	functions, locations := map[[2]string]*profile.Function{}, map[Call]*profile.Location{}
	for _, s := range samples {
		to := value(s)
		for _, c := range s.Stack {
			name := [2]string{c.Function, c.File}
			if functions[name] == nil {
				functions[name] = &profile.Function{ID: uint64(len(functions) + 1), Name: c.Function, Filename: c.File}
				p.Function = append(p.Function, functions[name])
			}
			if locations[c] == nil {
				locations[c] = &profile.Location{ID: uint64(len(locations) + 1), Mapping: p.Mapping[0], Line: []profile.Line{{Function: functions[name], Line: int64(c.Line)}}}
				p.Location = append(p.Location, locations[c])
			}
			to.Location = append(to.Location, locations[c])
		}
		p.Sample = append(p.Sample, to)
	}
}

// Packed returns a profile as it is in a file.
func Packed(p *profile.Profile) []byte {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}
