// Package look gathers what dewpond advise knows of a program: from files, or from the program
// itself.
package look

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/pprof/profile"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/memstats"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/metricsample"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pools"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/profiles"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/source"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// A Look is what was seen of a program.
type Look struct {
	Readings []*sites.Reading  // heap profiles, in the order of time
	Stats    []*memstats.Stats // of the runtime, in the order of time
	CPU      *CPU              // nil if there is no profile of it
	Trace    *pacer.Window     // of a gctrace; nil if there is none
	Notes    []string          // what could not be had

	// What it serves at both ends, if it does.
	Pages   []*pools.Page          // of its pools
	Samples []*metricsample.Sample // of its runtime
}

// A Reader reads sources.
type Reader struct {
	Program sites.Program
	// Reads is told how many bytes of a file were read.
	Reads func(n int64)
}

// Read adds what a source has.
func (r *Reader) Read(ctx context.Context, l *Look, s *source.Source) error {
	if err := r.read(l, s, s.Counted(ctx, r.Reads)); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

func (r *Reader) read(l *Look, s *source.Source, open func() (io.ReadCloser, error)) error {
	switch s.Kind {
	case source.Profile:
		return r.profile(l, open)
	case source.Trace:
		return errors.New("it is an execution trace: dewpond advise settings reads it; sites are in profiles of the heap")
	}
	file, err := open()
	if err != nil {
		return err
	}
	defer file.Close()
	if s.Kind == source.GCTrace {
		return l.gctrace(file)
	}
	stats, err := memstats.Read(file)
	l.Stats = append(l.Stats, stats)
	return err
}

// gctrace adds what the collector did.
func (l *Look) gctrace(r io.Reader) error {
	if l.Trace != nil {
		return errors.New("it is a second gctrace: give the one of the same time as the profiles of the heap")
	}
	w, count, err := pacer.ReadTrace(r)
	if err != nil {
		return err
	}
	if count.Broken > 0 {
		l.Notes = append(l.Notes, figure.Several(int(count.Broken), "line")+" of gctrace could not be read, because other output fell into them; by the numbers of the others they are counted.")
	}
	l.Trace = w
	return nil
}

func (r *Reader) profile(l *Look, open func() (io.ReadCloser, error)) error {
	reading, cpu := new(sites.Reading), new(CPU)
	processors := false
	err := profiles.Each(open, func(p *profile.Profile) error {
		if processors = isCPU(p); processors {
			return cpu.add(p, r.Program)
		}
		return reading.Add(p, r.Program)
	})
	switch {
	case processors && err == nil && l.CPU != nil:
		return errors.New("it is a second CPU profile: give one, of the same time as the profiles of the heap")
	case processors && err == nil:
		l.CPU = cpu
		return nil
	case errors.Is(err, profiles.ErrCut):
		return errors.New("the profile is cut off: save it again, and wait until it is whole")
	case errors.Is(err, profiles.ErrFormat):
		return fmt.Errorf("%w: save what /debug/pprof/heap or /debug/pprof/allocs answers", err)
	case errors.Is(err, sites.ErrNoSamples):
		return fmt.Errorf("the profile has %w: give one of /debug/pprof/heap or /debug/pprof/allocs", err)
	case err != nil:
		return err
	}
	l.Readings = append(l.Readings, reading)
	return nil
}

// Looks is how often a program is asked for its profile: at both ends of the window, and between,
// for what lives changes.
const Looks = 6

// Cost says what Watch asks a program for, and what that costs it.
func Cost(p *source.Program, window time.Duration, cpu bool) string {
	text := fmt.Sprintf("%s is asked %d times in %v for allocs and heap?debug=1: each answer takes some milliseconds of one of its processors, and stops it for some tens of microseconds. Its /metrics and /debug/vars are read twice.",
		p.Shown(), Looks, window)
	if cpu {
		text += fmt.Sprintf(" It takes a CPU profile for %v, a hundred samples a second of each processor that works, and allocates about 1 MB for it.", window)
	}
	return text + " Nothing in it is changed."
}

// Watch asks a program for what it has allocated in a window of time, and calls passed with how much
// of it has passed. With cpu it takes a CPU profile of that time. What ctx ends is an error, even after
// the first look.
func (r *Reader) Watch(ctx context.Context, p *source.Program, window time.Duration, cpu bool, passed func(time.Duration)) (*Look, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := new(Look)
	if err := r.ask(ctx, l, p); err != nil {
		return nil, err
	}
	l.page(ctx, p)
	profiled := make(chan error, 1)
	var data []byte
	if cpu {
		go func() {
			var err error
			data, err = p.Get(ctx, fmt.Sprintf("profile?seconds=%d", int(window.Seconds())), window)
			profiled <- err
		}()
	}
	each := window / (Looks - 1)
	for range Looks - 1 {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(each):
		}
		passed(each)
		if err := r.ask(ctx, l, p); err != nil {
			return nil, err
		}
	}
	l.page(ctx, p)
	if cpu {
		err := <-profiled
		if err == nil {
			err = r.answer(ctx, l, p, "profile", data)
		}
		if err != nil { // as where another profile is being taken
			l.Notes = append(l.Notes, "no CPU profile: "+err.Error())
		}
	}
	return l, nil
}

// page adds what a program says of its pools, its settings and its runtime, if it does. Of two pages
// one may have what the other lacks: Prometheus's client says when the process began, and expvar has what
// the program publishes of runtime/metrics.
func (l *Look) page(ctx context.Context, p *source.Program) {
	var page *pools.Page
	var sample *metricsample.Sample
	for _, path := range []string{"/metrics", "/debug/vars"} {
		before := time.Now()
		data, err := p.Page(ctx, path)
		if err != nil {
			continue
		}
		if of, err := pools.Read(data); err == nil && page == nil {
			page = of
		}
		s, err := metricsample.Parse(data)
		if err != nil {
			continue
		}
		if s.At.IsZero() {
			s.At = before.Add(time.Since(before) / 2)
		}
		if sample == nil || len(s.Values) > len(sample.Values) {
			sample, s = s, sample
		}
		if s != nil && sample.Began.IsZero() {
			sample.Began = s.Began
		}
	}
	if page != nil {
		l.Pages = append(l.Pages, page)
	}
	if sample != nil {
		l.Samples = append(l.Samples, sample)
	}
}

// ask adds what a program says of its memory now.
func (r *Reader) ask(ctx context.Context, l *Look, p *source.Program) error {
	for _, name := range []string{"heap?debug=1", "allocs"} {
		data, err := p.Get(ctx, name, 0)
		if err != nil {
			return err
		}
		if err := r.answer(ctx, l, p, name, data); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) answer(ctx context.Context, l *Look, p *source.Program, name string, data []byte) error {
	s, err := source.Bytes(p.Shown()+"/"+name, data)
	if err != nil {
		return err
	}
	return r.Read(ctx, l, s)
}
