package rig

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
	"github.com/dewpond/dewpond/examples/matchmaker/standin"
)

func TestObserve(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	took := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	o := observe([]asked{
		{at(0), took(1), false},
		{at(90), took(3), true}, // before the outage
		{at(100), took(100), true},
		{at(210), took(1), true}, // the first that fails at once
		{at(220), took(1), true},
		{at(395), took(25), false}, // the first that is answered after the end
		{at(430), took(1), false},
	}, at(95), at(400))
	want := observed{commands: 7, failed: 4, slow: 1, worst: took(100), noticed: took(115), back: took(20)}
	if o != want {
		t.Errorf("%+v\nwant %+v", o, want)
	}
	if s := strings.Join(observe(nil, at(0), at(0)).cells(), " "); s != "0 0 0 0s - -" {
		t.Errorf("%q", s)
	}
}

// Connections that were killed while they were idle are all asked once, at once.
func TestKilledOutage(t *testing.T) {
	startsProcesses(t)
	child, err := standin.Start(standin.Spec{Postgres: true, NoScorer: true})
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	c := &outageCommand{Callers: 8}
	o, err := c.postgres(t.Context(), child.Postgres, liveness.Both, outages[0])
	if err != nil || o.commands != 8 {
		t.Errorf("%+v, %v", o, err)
	}
}

// Every outage is played in each mode, and printed. What callers see in so short a time is chance.
func TestOutage(t *testing.T) {
	startsProcesses(t)
	c := &outageCommand{Postgres: standIn, Redis: standIn, Callers: 4, Duration: 50 * time.Millisecond, around: 20 * time.Millisecond, Only: []string{"hung", "slow"}}
	var out strings.Builder
	if err := c.outages(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Count(out.String(), "\n")
	if !containsAll(out.String(), "stand-in", "hung", "slow", "PostgreSQL", "Redis", "both", "fastfail", "Errors in all outages: ", "-92 %") || lines != 2+1+2*2*4+4 {
		t.Errorf("%d lines:\n%s", lines, out.String())
	}
}

// Errors are compared with errors, and what is slow apart.
func TestOutageWords(t *testing.T) {
	all := totals{}
	for range 2 { // PostgreSQL, Redis
		all.add("killed", liveness.Off, observed{commands: 20, failed: 10, slow: 1})
		all.add("killed", liveness.Both, observed{commands: 20})
		all.add("hung", liveness.Off, observed{commands: 100, failed: 30, slow: 30})
		all.add("hung", liveness.Both, observed{commands: 900, failed: 100, slow: 3})
	}
	words := strings.Join(all.words(), "\n")
	for _, want := range []string{
		"Errors where idle connections were killed, and each was used once: 20 of 40 commands with health off, 0 of 40 with both, which is -100 %.",
		"Errors in all outages: 80 of 240 commands with health off, 200 of 1840 with both, which is +150 %.",
		"whose address is not known here, says -92 % of the errors",
		"Slow commands in all outages: 62 with health off, 6 with both, which is -90 %.",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in\n%s", want, words)
		}
	}
	none := totals{}
	none.add("slow", liveness.Off, observed{commands: 5})
	none.add("slow", liveness.Both, observed{commands: 5, failed: 1})
	if words := none.words(); words[0] != "Errors in all outages: 0 of 5 commands with health off, 1 of 5 with both." {
		t.Errorf("%q", words)
	}
}

func TestOutageRefuses(t *testing.T) {
	for _, c := range []*outageCommand{{}, {Callers: 1, Duration: 1, Only: []string{"fire"}}} {
		if err := c.outages(context.Background(), io.Discard); !errors.As(err, new(command.UsageError)) {
			t.Errorf("%v", err)
		}
	}
}
