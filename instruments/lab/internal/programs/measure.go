package programs

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/progress"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/rounds"
)

// A Bench measures programs.
type Bench struct {
	Dir   string // for copies; the caller removes it
	Root  string // of the repository
	Pairs int    // of rounds, of each load
	Procs []int  // in place of the programs' own, if there are any
	// Commit is that of the repository.
	Commit string
	// LoadsAlone leaves the programs' tests out.
	LoadsAlone bool
	// Do runs a step in a child process.
	Do func(context.Context, Step) (Ending, error)
}

// again is how often tests that have failed are run once more, of each side.
const again = 5

// begin returns what is not measured yet of a program.
func (b Bench) begin(p Program) (Outcome, copies) {
	if len(b.Procs) > 0 {
		p.Procs = b.Procs
	}
	if b.LoadsAlone {
		p.Packages = nil // those whose tests run
	}
	o := Outcome{Program: p.Name, Version: p.Version, Commit: b.Commit, Environment: kit.Environment(), Procs: p.Procs}
	return o, copies{Program: p.At(p.Procs), dir: b.Dir, root: b.Root, do: b.Do}
}

// Measure measures one program. An error is that of what cannot be done at all, or ctx's.
func (b Bench) Measure(ctx context.Context, p Program) (Outcome, error) {
	o, c := b.begin(p)
	defer os.RemoveAll(c.side("")) // a night's programs would fill a disk
	if err := b.prepare(ctx, c, &o); err != nil {
		return o, err
	}
	if err := b.retest(ctx, c, &o); err != nil {
		return o, err
	}
	if err := b.measure(ctx, c, &o, c.Loads, sides); err != nil {
		return o, err
	}
	// By chance an interval may be above 1. What misses an aim has as many rounds more, and is judged by all.
	return o, b.measure(ctx, c, &o, o.Missed(p), sides)
}

// prepare makes the copies, compiles both, and runs the tests.
func (b Bench) prepare(ctx context.Context, c copies, o *Outcome) error {
	type step struct {
		name string
		do   func() error
	}
	steps := []step{{"download and edit", func() (err error) { o.Lines, err = c.make(ctx); return err }}}
	var loaded []string
	for _, l := range c.Loads {
		if !slices.Contains(loaded, l.Package) {
			loaded = append(loaded, l.Package)
		}
	}
	for _, side := range []string{Original, Linked, Migrated} {
		for _, pkg := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Packages, loaded)))) {
			if side == Linked && !slices.Contains(loaded, pkg) {
				continue
			}
			steps = append(steps, step{"compile " + pkg + ", " + side, func() error { return c.build(ctx, side, pkg) }})
		}
	}
	for _, run := range o.runs() {
		for _, pkg := range c.Packages {
			steps = append(steps, step{"tests of " + pkg + ", " + run.name, func() error {
				e, err := c.test(ctx, run.side, pkg, "", run.check)
				if err != nil {
					return err
				}
				if e.Failed && len(e.Failures) == 0 { // as of a panic
					if run.check != checked {
						return e.must("the tests of " + pkg + " did not run to their end, " + run.name)
					}
					e.Failures = []string{"the rest of " + pkg}
				}
				run.add(e)
				return nil
			}})
		}
	}
	display := progress.New(os.Stderr, "lab", len(steps))
	defer display.Close()
	for i, s := range steps {
		display.Begin(rounds.Turn{Scenario: c.Name, Contender: s.name, Round: 0})
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("after %d steps of %d: %w", i+1, len(steps), context.Cause(ctx))
		}
	}
	return nil
}

// A run is one of the three of a program's tests.
type run struct {
	name, side, check string
	*Tests
}

func (o *Outcome) runs() []run {
	return []run{
		{"as they are", Original, "DEWPOND_CHECK=off", &o.Before},
		{"with dewpond", Migrated, "DEWPOND_CHECK=off", &o.After},
		{"with checks", Migrated, checked, &o.Checked},
	}
}

func (t *Tests) add(e Ending) {
	t.Passed += e.Passed
	t.Failures = append(t.Failures, e.Failures...)
	t.Reports += e.Reports
}

// retest runs what has failed of either side without checks once more, in turn.
func (b Bench) retest(ctx context.Context, c copies, o *Outcome) error {
	names := slices.Sorted(slices.Values(slices.Concat(o.Before.Failures, o.After.Failures)))
	if len(names) == 0 {
		return nil
	}
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	pattern := "^(" + strings.Join(slices.Compact(names), "|") + ")$"
	display := progress.New(os.Stderr, "lab", 2*again)
	defer display.Close()
	for _, turn := range rounds.Interleave([]string{"as they are", "with dewpond"}, again) {
		turn.Scenario = c.Name + ", what has failed"
		display.Begin(turn)
		for _, run := range o.runs() {
			if run.name != turn.Contender {
				continue
			}
			run.Of++
			failed := false
			for _, pkg := range c.Packages {
				e, err := c.test(ctx, run.side, pkg, pattern, run.check)
				if err != nil {
					return err
				}
				failed = failed || e.Failed
			}
			if failed {
				run.Again++
			}
		}
	}
	return nil
}

// measure runs the loads, the variants in turn.
func (b Bench) measure(ctx context.Context, c copies, o *Outcome, loads []Load, of []variant) error {
	if len(loads) == 0 {
		return nil
	}
	byName, variants := map[string]Load{}, map[string]variant{}
	var names, turned []string
	for _, v := range of {
		variants[v.name], turned = v, append(turned, v.name)
	}
	first := 0
	for _, l := range loads {
		byName[l.Name], names = l, append(names, l.Name)
	}
	for _, r := range o.Rounds {
		first = max(first, r.Round+1)
	}
	turns := rounds.Tour(names, turned, b.Pairs)
	display := progress.New(os.Stderr, "lab", len(turns))
	defer display.Close()
	done, err := rounds.Run(ctx, turns, naming{display, c.Name}, func(ctx context.Context, t rounds.Turn) (result.Round, error) {
		f, err := c.load(ctx, variants[t.Contender], byName[t.Scenario])
		if err != nil {
			return result.Round{}, err
		}
		return result.Round{Scenario: t.Scenario, Contender: t.Contender, Round: first + t.Round, Ops: f.Ops, Seconds: f.Seconds, Figures: f.Figures}, nil
	})
	o.Rounds = append(o.Rounds, done...)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// naming shows a turn's program too.
type naming struct {
	progress.Display
	program string
}

func (n naming) Begin(t rounds.Turn) {
	t.Scenario = n.program + ", " + t.Scenario
	n.Display.Begin(t)
}
