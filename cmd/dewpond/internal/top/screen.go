package top

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// trend is how many values a sparkline shows.
const trend = 20

// A Screen remembers what was fetched, and draws it. It has no clock and no terminal.
type Screen struct {
	URL   string
	Every time.Duration
	Order Order

	now   *Snapshot
	at    time.Time
	pools map[string]*row
	note  string    // about the target: gone, or back
	gone  time.Time // when it went away; zero while it is there
}

// A row is a pool with what changed.
type row struct {
	*Pool
	gets, misses, growth, bytes    float64 // the first three a second
	refused, dropped, waits, freed float64 // a second
	history                        map[Order][]float64
}

func (r *row) value(o Order) float64 {
	switch o {
	case ByGrowth:
		return r.growth
	case ByBytes:
		return r.bytes
	}
	return r.misses
}

// Observe notes what was fetched at a time, or why nothing was.
func (s *Screen) Observe(at time.Time, next *Snapshot, err error) {
	if err != nil {
		if s.gone.IsZero() {
			s.gone = at
		}
		s.note = fmt.Sprintf("GONE since %s: %s; trying again every %v", s.gone.Format(time.TimeOnly), reason(err), s.Every)
		return
	}
	back := !s.gone.IsZero()
	if back {
		s.note = fmt.Sprintf("back since %s, after %v", at.Format(time.TimeOnly), at.Sub(s.gone).Round(time.Second))
		s.gone = time.Time{}
	}
	seconds := at.Sub(s.at).Seconds()
	rows, anew := map[string]*row{}, false
	for name, p := range next.Pools {
		r := &row{Pool: p, bytes: p.Idle + p.Used, history: map[Order][]float64{}}
		if before := s.pools[name]; before != nil {
			r.history = before.history
			if p.Gets < before.Gets || p.Puts < before.Puts {
				anew = true
			} else if seconds > 0 {
				r.since(before.Pool, seconds)
			}
		}
		for _, o := range keys {
			all := append(r.history[o], r.value(o))
			r.history[o] = all[max(0, len(all)-trend):]
		}
		rows[name] = r
	}
	switch {
	case anew && back:
		s.note += "; its counters began anew"
	case anew:
		s.note = "at " + at.Format(time.TimeOnly) + " its counters began anew"
	}
	s.now, s.at, s.pools = next, at, rows
}

// since sets what has changed in so many seconds.
func (r *row) since(before *Pool, seconds float64) {
	r.gets = (r.Gets - before.Gets) / seconds
	r.misses = (r.Misses - before.Misses) / seconds
	r.growth = (r.Used - before.Used) / seconds
	r.refused = (r.Refused - before.Refused) / seconds
	r.dropped = (r.Dropped - before.Dropped) / seconds
	r.waits = (r.WaitSeconds - before.WaitSeconds) / seconds
	r.freed = (r.Trimmed - before.Trimmed) / seconds
}

// reason is an error without what a person at the screen knows already.
func reason(err error) string {
	if missing := new(MissingError); errors.As(err, &missing) {
		return "it answers, but without dewpond's metrics"
	}
	text := err.Error() // Get "http://...": dial tcp 127.0.0.1:1: connect: connection refused
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+len(": "):]
	}
	return text
}

// Key does what a key asks for, and reports whether that is to quit.
func (s *Screen) Key(key byte) (quit bool) {
	const ctrlC, ctrlD = 3, 4
	switch key {
	case 'q', 'Q', ctrlC, ctrlD:
		return true
	}
	if o := keys[key]; o != "" {
		s.Order = o
	}
	return false
}

// Lines draws the screen, with no line longer than the style's width and no more lines than
// height.
func (s *Screen) Lines(style terminal.Style, height int) []string {
	level := []string{"low", "medium", "HIGH"}[min(2, max(0, int(s.now.Pressure)))]
	lines := []string{
		fmt.Sprintf("dewpond top  %s  %s  every %v", s.URL, s.at.Format(time.TimeOnly), s.Every),
		fmt.Sprintf("memory pressure %s%s", level, s.budgets()),
		s.note,
		fmt.Sprintf("sorted by %s; m: misses, g: growth in use, b: bytes, q: quit", s.Order),
		"", // the head of the table
	}
	notes := 0 // the width of the column, which is there if a pool has any
	for _, r := range s.pools {
		if n := len(r.notes()); n > 0 {
			notes = max(notes, len("NOTES"), n)
		}
	}
	lines[4] = tableLine("POOL", "GETS/s", "  HIT%", notes, "NOTES", "MISS/s", "USED", "GROWTH/s", "IDLE", "OUT", strings.ToUpper(string(s.Order)))
	alarms := map[int]bool{1: s.full(), 2: !s.gone.IsZero()}
	for _, name := range sorted(s.pools, func(r *row) float64 { return r.value(s.Order) }) {
		r := s.pools[name]
		alarms[len(lines)] = r.refused > 0 || r.Violations > 0
		lines = append(lines, r.line(name, s.Order, notes))
	}
	if len(lines) > height {
		hidden := len(lines) - max(0, height-1)
		lines = append(lines[:max(0, height-1)], fmt.Sprintf("and %d more pools", hidden))
		delete(alarms, len(lines)-1)
	}
	for i, line := range lines {
		lines[i] = cut(line, style.Width)
		switch {
		case alarms[i]:
			lines[i] = style.Red(lines[i])
		case i == 4:
			lines[i] = style.Bold(lines[i])
		}
	}
	return lines
}

// full reports whether a Budget has hardly any room.
func (s *Screen) full() bool {
	for _, b := range s.now.Budgets {
		if b.Used >= 0.95*b.Limit {
			return true
		}
	}
	return false
}

// tableLine lays out a line of the table. What a narrow terminal cuts stands last.
func tableLine(name, gets, hit string, width int, notes, misses, used, growth, idle, out, trend string) string {
	if width > 0 {
		hit += fmt.Sprintf("  %-*s", width, notes)
	}
	return fmt.Sprintf("%-20s %8s %6s %8s %9s %9s %9s %8s  %s", name, gets, hit, misses, used, growth, idle, out, trend)
}

func (s *Screen) budgets() string {
	var b strings.Builder
	for _, name := range sorted(s.now.Budgets, func(b *Budget) float64 { return b.Used / b.Limit }) {
		of := s.now.Budgets[name]
		fmt.Fprintf(&b, "  budget %s %s of %s (%.0f%%)", word(name), amount(of.Used), amount(of.Limit), 100*of.Used/of.Limit)
	}
	return b.String()
}

func (r *row) line(name string, o Order, notes int) string {
	hit := "-"
	if r.gets > 0 {
		hit = fmt.Sprintf("%.1f", 100*(1-r.misses/r.gets))
	}
	return tableLine(cut(word(name), 20), number(r.gets), fmt.Sprintf("%6s", hit), notes, r.notes(), number(r.misses),
		amount(r.Used), amount(r.growth), amount(r.Idle), number(r.Out), sparkline(r.history[o]))
}

// notes says what deserves a look, the worst first.
func (r *row) notes() string {
	var notes []string
	note := func(v float64, format string, args ...any) {
		if v > 0 {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	note(r.Violations, "%.0f VIOLATIONS", r.Violations)
	note(r.refused, "%s/s refused", number(r.refused))
	note(r.waits, "%.1f waiting", r.waits)
	note(r.dropped, "%s/s dropped", number(r.dropped))
	note(r.freed, "%s/s trimmed", amount(r.freed))
	return strings.Join(notes, ", ")
}

// sparkline draws values from their least, or 0 if none is less, to their greatest.
func sparkline(values []float64) string {
	steps := []rune("▁▂▃▄▅▆▇█")
	least, most := 0.0, 0.0
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	var b strings.Builder
	for _, v := range values {
		i := 0
		if most > least {
			i = int(math.Round((v - least) / (most - least) * float64(len(steps)-1)))
		}
		b.WriteRune(steps[i])
	}
	return b.String() + strings.Repeat(" ", trend-len(values))
}

// cut cuts a line to so many letters.
func cut(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(0, width-1)]) + "…"
}

// number writes a count with three digits or so.
func number(v float64) string { return short(v, 1000, "", "") }

// amount writes bytes likewise.
func amount(v float64) string { return short(v, 1024, "B", "iB") }

func short(v, step float64, one, many string) string {
	units := []string{one, "K" + many, "M" + many, "G" + many, "T" + many, "P" + many, "E" + many}
	i := 0
	for ; math.Abs(v) >= step*0.9995 && i < len(units)-1; i++ {
		v /= step
	}
	if i == 0 || math.Abs(v) >= 99.95 {
		return fmt.Sprintf("%.0f%s", v, units[i])
	}
	return fmt.Sprintf("%.1f%s", v, units[i])
}
