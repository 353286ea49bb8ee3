package rig

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/load"
)

func TestGuardRefuses(t *testing.T) {
	for _, c := range []*guardCommand{{Rate: 1, Duration: 1}, {Rounds: 1, Duration: 1}, {Rounds: 1, Rate: 1}} {
		if err := c.guard(context.Background(), io.Discard, io.Discard); !errors.As(err, new(command.UsageError)) || !strings.Contains(err.Error(), "give --rounds 1 or more, and --rate") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A counter is that of all pools, and of no other counter. A metric without labels is its value.
func TestSummed(t *testing.T) {
	text := []byte("# HELP dewpond_x a {b} 7\ndewpond_x{pool=\"a\"} 5\ndewpond_x{pool=\"b } c\"} 1e+02 1700000000\ndewpond_xy{pool=\"a\"} 9\ndewpond_x{pool=\"none\"}\nplain 2.5e+07\nplainer 1\n")
	if n, plain := summed(text, "dewpond_x"), summed(text, "plain"); n != 105 || plain != 25e6 {
		t.Errorf("%v and %v, want 105 and 25e6", n, plain)
	}
}

func TestResidentBytes(t *testing.T) {
	n, err := residentBytes(os.Getpid())
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this system does not say: ", err)
	}
	if err != nil || n < 1<<20 || n > 1<<40 {
		t.Errorf("%v bytes, %v", n, err)
	}
}

// guardRounds are some of a service that needs so many bytes, and when it is guarded so many times as many.
func guardRounds(n int, times float64) (all []map[string]*guardSide) {
	for i := range n {
		side := func(by float64) *guardSide {
			s := &guardSide{Result: load.Result{Finished: 10, Failed: 1}, resident: []float64{1e9, 1e9}, goal: 30e6} // it warms up
			for range 8 {
				s.resident = append(s.resident, (50e6+float64(i))*by)
			}
			return s
		}
		round := map[string]*guardSide{without: side(1), withoutAgain: side(1.001), guarded: side(times)}
		round[guarded].samples = 100
		all = append(all, round)
	}
	return all
}

func TestGuardReport(t *testing.T) {
	var out strings.Builder
	if err := guardReport(&out, guardRounds(6, 1.009), guardSide{samples: 7}, "touch"); err != nil {
		t.Error(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"without 60 6 50.0 MB - 30.0 MB 0 0 0", "without, again 60 6 50.1 MB +0.10 % [+0.10, +0.10] 30.0 MB 0", "guarded 60 6 50.5 MB +0.90 % [+0.90, +0.90] 30.0 MB 0 600 0",
		"in this process: 7 samples, 0 reports; its pool's Stats.Guard.Setting is touch.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for want, change := range map[string]func(all []map[string]*guardSide, own *guardSide) []map[string]*guardSide{
		"more than 1 % more memory: +1.10 %": func([]map[string]*guardSide, *guardSide) []map[string]*guardSide { return guardRounds(6, 1.011) },
		"3 uses after Put were reported": func(all []map[string]*guardSide, own *guardSide) []map[string]*guardSide {
			all[2][guarded].reports, own.reports = 2, 1
			return all
		},
		"no Get of the guarded service was sampled": func(all []map[string]*guardSide, _ *guardSide) []map[string]*guardSide {
			for _, round := range all {
				round[guarded].samples = 0
			}
			return all
		},
	} {
		var own guardSide
		if err := guardReport(io.Discard, change(guardRounds(6, 1), &own), own, "off"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// An interval that reaches below decides nothing, nor do few rounds.
	mixed := append(guardRounds(5, 1.05), guardRounds(1, 1)...)
	if err := guardReport(io.Discard, mixed, guardSide{}, "off"); err != nil {
		t.Error(err)
	}
	out.Reset()
	if err := guardReport(&out, guardRounds(5, 1.05), guardSide{}, "off"); err != nil || !strings.Contains(out.String(), "No verdict on 5 rounds.") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// The services are started, loaded and asked. What so short a run measures is chance.
func TestGuard(t *testing.T) {
	startsProcesses(t)
	if _, err := residentBytes(os.Getpid()); err != nil {
		t.Skip("this system does not say what is resident: ", err)
	}
	c := &guardCommand{program: service(t), backendFlags: backendFlags{standIn, standIn}, Guard: "touch=1000", Duration: time.Second, Rounds: 1, Rate: 40}
	var out strings.Builder
	err := c.guard(t.Context(), &out, io.Discard)
	if err != nil && err.Error() != "no Get of the guarded service was sampled" { // as where huge pages are made unasked
		t.Fatal(err)
	}
	if !containsAll(out.String(), "stand-in", "\nwithout ", "\nwithout, again ", "\nguarded ", "No verdict on 1 rounds.") {
		t.Error(out.String())
	}
}
