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
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/profiles"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/source"
)

// A Look is what was seen of a program.
type Look struct {
	Readings []*sites.Reading  // heap profiles, in the order of time
	Stats    []*memstats.Stats // of the runtime, in the order of time
}

// A Reader reads sources.
type Reader struct {
	Program sites.Program
	// Reads is told how many bytes of a file were read.
	Reads func(n int64)
}

// Read adds what a source has.
func (r *Reader) Read(l *Look, s *source.Source) error {
	if err := r.read(l, s); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

func (r *Reader) read(l *Look, s *source.Source) error {
	switch s.Kind {
	case source.MemStats:
		file, err := s.Open()
		if err != nil {
			return err
		}
		defer file.Close()
		stats, err := memstats.Read(r.counted(file))
		l.Stats = append(l.Stats, stats)
		return err
	case source.Profile:
		return r.profile(l, s)
	case source.GCTrace:
		return errors.New("it is a gctrace: dewpond advise settings reads it; sites are in profiles of the heap")
	default:
		return errors.New("it is an execution trace: dewpond advise settings reads it; sites are in profiles of the heap")
	}
}

func (r *Reader) profile(l *Look, s *source.Source) error {
	open := func() (io.ReadCloser, error) {
		file, err := s.Open()
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{r.counted(file), file}, nil
	}
	reading := new(sites.Reading)
	err := profiles.Each(open, func(p *profile.Profile) error { return reading.Add(p, r.Program) })
	switch {
	case errors.Is(err, profiles.ErrCut):
		return errors.New("the profile is cut off: save it again, and wait until it is whole")
	case errors.Is(err, sites.ErrNoSamples):
		return fmt.Errorf("the profile has %w: give one of /debug/pprof/heap or /debug/pprof/allocs", err)
	case err != nil:
		return err
	}
	l.Readings = append(l.Readings, reading)
	return nil
}

func (r *Reader) counted(from io.Reader) io.Reader { return &counted{from, r.Reads} }

type counted struct {
	from io.Reader
	note func(int64)
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	if c.note != nil {
		c.note(int64(n))
	}
	return n, err
}

// Looks is how often a program is asked for its profile: at both ends of the window, and between,
// for what lives changes.
const Looks = 6

// Cost says what Watch asks a program for, and what that costs it.
func Cost(p *source.Program, window time.Duration) string {
	return fmt.Sprintf("%s is asked %d times in %v for allocs and for heap?debug=1. Each answer takes the program some milliseconds of one processor, and stops it for some tens of microseconds. Nothing in it is changed.",
		p.Shown(), Looks, window)
}

// Watch asks a program for what it has allocated in a window of time, and calls passed with how much
// of it has passed. What ctx ends is an error, even after the first look.
func (r *Reader) Watch(ctx context.Context, p *source.Program, window time.Duration, passed func(time.Duration)) (*Look, error) {
	l := new(Look)
	each := window / (Looks - 1)
	for i := range Looks {
		if i > 0 {
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(each):
			}
			passed(each)
		}
		for _, name := range []string{"heap?debug=1", "allocs"} {
			data, err := p.Get(ctx, name, 0)
			if err != nil {
				return nil, err
			}
			s, err := source.Bytes(p.Shown()+"/"+name, data)
			if err != nil {
				return nil, err
			}
			if err := r.Read(l, s); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}
