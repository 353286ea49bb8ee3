package rig

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/command"
)

// The verdicts follow from the rounds, and a claim that does not hold is not said to.
func TestClientsVerdict(t *testing.T) {
	names := clientNames()
	answers := map[string][]clientAnswer{}
	for i := range 6 {
		f := 1 + 0.1*float64(i)
		answers[names[0]] = append(answers[names[0]], clientAnswer{Throughput: 4000 * f, Allocs: 50, Bytes: 3000, RSS: 28e6 * f, Goroutines: 100})
		answers[names[1]] = append(answers[names[1]], clientAnswer{Throughput: 6000 * f, Allocs: 53, Bytes: 3200, RSS: 30e6 * f, Goroutines: 50})
		answers[names[2]] = append(answers[names[2]], clientAnswer{Throughput: 8000 * f, Allocs: 23, Bytes: 2100, RSS: 35e6 * f, Goroutines: 2})
	}
	var out strings.Builder
	if err := writeClients(&out, names, answers, 6); err != nil {
		t.Fatal(err)
	}
	if !containsAll(out.String(), "(2.00x [2.00, 2.00])", "RSS is 1.25x [1.25, 1.25] of lib/pq's, where it would have to be 0.53x: it is more.",
		"goroutines is 0.02x [0.02, 0.02] of lib/pq's, where it would have to be 0.22x: so it is.",
		"B/query is 0.70x [0.70, 0.70] of lib/pq's, where it would have to be 0.53x: it is less, by less than that.") {
		t.Error(out.String())
	}
	for i := range 6 { // an interval that contains the claim, and no effect
		answers[names[2]][i].Bytes = []float64{1500, 4500}[i%2]
	}
	out.Reset()
	if err := writeClients(&out, names, answers, 6); err != nil || !strings.Contains(out.String(), "B/query is 1.00x [0.50, 1.50] of lib/pq's, where it would have to be 0.53x: it cannot be told apart.") {
		t.Error(out.String(), err)
	}
	for name := range answers {
		answers[name] = answers[name][:2]
	}
	out.Reset()
	if err := writeClients(&out, names, answers, 2); err != nil || !strings.Contains(out.String(), "no verdict on 2 rounds") {
		t.Error(out.String(), err)
	}
}

func TestClientsNeedAServer(t *testing.T) {
	c := &clientsCommand{Postgres: standIn}
	if err := c.clients(context.Background(), io.Discard); !errors.As(err, new(command.UsageError)) || !strings.Contains(err.Error(), "needs a PostgreSQL") {
		t.Errorf("%v", err)
	}
}
