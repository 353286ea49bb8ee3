package standin

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/dewpond/dewpond/instruments/kit/child"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/plain"
)

// A Spec says what is to be stood in for.
type Spec struct {
	Postgres bool     `json:"postgres"`
	Regions  []string `json:"regions"` // a Redis for each
	NoScorer bool     `json:"no_scorer"`
	// Service is the mean time of a statement, exponential, and Most how many connections the
	// database takes; 0 is as soon as may be, and a stock server's.
	Service time.Duration `json:"service_ns"`
	Most    int           `json:"most"`
}

// Addresses are where the stand-ins listen.
type Addresses struct {
	Postgres string `json:"postgres,omitempty"` // a DSN
	Redis    string `json:"redis,omitempty"`    // as region.Parse reads it
	Scorer   string `json:"scorer,omitempty"`   // a URL
}

// childOf names the environment variable by which a program knows that it is the child.
const childOf = "MATCHMAKER_STANDIN"

// RunChild runs the stand-ins, and exits, if this process was started for them. It is the first
// thing that main does. Signals that end the parent are for the parent, which still needs the
// stand-ins: a terminal and a service manager send them to both.
func RunChild() {
	text := os.Getenv(childOf)
	if text == "" {
		return
	}
	signal.Ignore(interrupt.Signals...)
	if err := serve(text, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "stand-in:", plain.Text(err.Error()))
		os.Exit(1)
	}
	os.Exit(0)
}

// serve runs the stand-ins until in ends, which it does with the parent, however that ends.
func serve(text string, in io.Reader, out io.Writer) error {
	var spec Spec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return err
	}
	var a Addresses
	if spec.Postgres {
		p, err := NewPostgres()
		if err != nil {
			return err
		}
		defer p.Close()
		if spec.Service > 0 {
			p.Serve(0, func() time.Duration { return time.Duration(rand.ExpFloat64() * float64(spec.Service)) })
		}
		if spec.Most > 0 {
			p.Bound(spec.Most, 0)
		}
		a.Postgres = p.DSN()
	}
	var regions []string
	for _, name := range spec.Regions {
		m, err := miniredis.Run()
		if err != nil {
			return err
		}
		defer m.Close()
		regions = append(regions, name+"="+m.Addr())
	}
	a.Redis = strings.Join(regions, ",")
	if !spec.NoScorer {
		s, err := NewScorer()
		if err != nil {
			return err
		}
		defer s.Close()
		a.Scorer = s.URL()
	}
	if err := json.NewEncoder(out).Encode(a); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, in)
	return err
}

// A Child is the process of the stand-ins: a process of its own, so that its heap and its
// collector are too. Close ends it and waits for it.
type Child struct {
	Addresses
	*child.Process
}

// Start starts this program again, as the child.
func Start(spec Spec) (*Child, error) {
	c := &Child{}
	var err error
	if c.Process, err = child.StartFor(childOf, spec, &c.Addresses); err != nil {
		return nil, fmt.Errorf("the stand-ins did not start: %w", err)
	}
	return c, nil
}
