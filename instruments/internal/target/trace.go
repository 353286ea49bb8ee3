package target

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/exp/trace"
)

// Phases are when the collector of a program was at work, on the program's wall clock.
type Phases struct {
	// Begin is the wall clock at the trace's first event; intervals count from it.
	Begin  time.Time
	Window Interval
	Mark   []Interval // concurrent marking
	Stop   []Interval // the world is stopped
	Assist []Interval // a goroutine helps to mark
	// Cut says why the trace was not read to its end. It is empty if it was.
	Cut string
}

// Collector returns all phases.
func (p *Phases) Collector() []Interval {
	all := append([]Interval(nil), p.Mark...)
	return append(append(all, p.Stop...), p.Assist...)
}

// Interval returns a stretch of wall time as the phases count, and whether it began in the
// window.
func (p *Phases) Interval(from, to time.Time) (Interval, bool) {
	v := Interval{from.Sub(p.Begin), to.Sub(p.Begin)}
	return v, v.From >= p.Window.From && v.From < p.Window.To
}

// The names of the runtime's ranges, as Go 1.26 has them.
const (
	markRange   = "GC concurrent mark phase"
	assistRange = "GC mark assist"
	stopRange   = "stop-the-world"
)

// ReadTrace reads an execution trace. A trace that ends early gives what was read until then.
func ReadTrace(from io.Reader) (*Phases, error) {
	r, err := trace.NewReader(from)
	if err != nil {
		return nil, fmt.Errorf("no execution trace: %w", err)
	}
	type key struct {
		name  string
		scope trace.ResourceID
	}
	open := map[key]trace.Time{}
	p := &Phases{}
	var first, last trace.Time
	var clock *trace.ClockSnapshot
	events := 0
	end := func(k key, at trace.Time) {
		v := Interval{open[k].Sub(first), at.Sub(first)}
		delete(open, k)
		switch {
		case k.name == markRange:
			p.Mark = append(p.Mark, v)
		case k.name == assistRange:
			p.Assist = append(p.Assist, v)
		case strings.HasPrefix(k.name, stopRange) && strings.Contains(k.name, "GC"):
			p.Stop = append(p.Stop, v)
		}
	}
	for {
		e, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			p.Cut = err.Error()
			break
		}
		if e.Kind() == trace.EventSync {
			if s := e.Sync().ClockSnapshot; s != nil && clock == nil {
				clock = s
			}
			continue
		}
		if events == 0 {
			first = e.Time()
		}
		events++
		last = e.Time()
		switch e.Kind() {
		case trace.EventRangeBegin, trace.EventRangeActive:
			k := key{e.Range().Name, e.Range().Scope}
			if _, is := open[k]; !is {
				open[k] = e.Time()
			}
		case trace.EventRangeEnd:
			k := key{e.Range().Name, e.Range().Scope}
			if _, is := open[k]; is {
				end(k, e.Time())
			}
		}
	}
	if events == 0 {
		return nil, errors.New("the execution trace has no events")
	}
	if clock == nil {
		return nil, errors.New("the execution trace has no clock: the target needs Go 1.25 or newer")
	}
	for k := range open {
		end(k, last)
	}
	p.Window = Interval{0, last.Sub(first)}
	p.Begin = clock.Wall.Add(first.Sub(clock.Trace))
	return p, nil
}
