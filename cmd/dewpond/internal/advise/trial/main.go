// Command trial holds what dewpond advise predicts against what is counted: it runs a sample program as
// it is and as advised, in turn, and compares the collections.
//
//	go run ./cmd/dewpond/internal/advise/trial                          one run of each, in a minute
//	go run ./cmd/dewpond/internal/advise/trial -runs 30                 as .ci/nightly does
//	go run ./cmd/dewpond/internal/advise/trial -runs 5 -from 1000       with other seeds than the first ones
//	go run ./cmd/dewpond/internal/advise/trial -processors 2            with GOMAXPROCS=2
//	go run ./cmd/dewpond/internal/advise/trial -runs 10 -write docs/advise.md
//
// It fails if fewer than nine of ten predictions hold, or fewer than 19 of 20 intervals have the truth.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/advice"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/evidence"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/look"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/model"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/source"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/outputs"
)

// A setting is one way to run the sample, for so long that a CPU profile has samples enough.
type setting struct {
	name        string
	args        []string
	gogc, limit string // of the environment
	variants    []variant
	start       bool // collections are counted from the start of the sample, in which it fills what it keeps
}

// A variant is the sample as advised.
type variant struct {
	pool string
	idle int // MiB that the pool keeps idle

	advice, says string // of the site, and a part of why or of the options; empty: not looked at
}

func (v variant) String() string {
	if v.idle > 0 {
		return fmt.Sprintf("%s, %d MiB idle", v.pool, v.idle)
	}
	return v.pool
}

var (
	sitesOf = map[string]string{
		"answer": "main.(*service).answer", "pieces": "main.(*service).piece", "cache": "main.(*service).remember",
		"message": "main.(*service).message", "order": "main.(*service).order", "body": "main.(*service).body", "frame": "main.(*service).frame",
	}

	// The advice for each site, and a part of what it says.
	bytePool = variant{pool: "answer", advice: "BytePool", says: "pool.Get(n)"}
	scope    = variant{pool: "pieces", advice: "Scope", says: "scope.Close()"}
	message  = variant{pool: "message", advice: "BytePool", says: "put it back where it is replaced"}
	order    = variant{pool: "order", advice: "Pool", says: "Reset: func(v *order)"}
	body     = variant{pool: "body", advice: "Buffer", says: "pool.Buffer()"}
	frame    = variant{pool: "frame", advice: "BytePool", says: "IdleTimeout: 2 * time.Minute"}
	entry    = variant{pool: "cache", advice: "BytePool", says: "put it back where it is replaced"}

	settings = []setting{
		{name: "GOGC=100", args: answers, gogc: "100", variants: []variant{bytePool, scope, {pool: "answer,pieces"}}},
		{name: "GOGC=off, GOMEMLIMIT=120MiB", args: answers, gogc: "off", limit: "120MiB", variants: []variant{bytePool, {pool: "answer", idle: 39}, {pool: "answer,pieces"}}},
		{name: "GOGC=100, a cache of 20,000 filled at 6000/s", args: []string{"-rate", "6000", "-requests", "60000", "-every", "1", "-cached", fmt.Sprint(cached), "-live", "0"}, gogc: "100", variants: []variant{entry}},
		{name: "GOGC=100, a window of 200,000 messages of 1 KiB, from its start", args: []string{"-load", "messages", "-rate", "0", "-requests", "5000000", "-live", "0"}, gogc: "100", variants: []variant{message}, start: true},
		{name: "GOGC=100, orders of 16 KiB", args: []string{"-load", "orders", "-rate", "0", "-requests", "300000"}, gogc: "100", variants: []variant{order}},
		{name: "GOGC=100, bodies of 20 KiB that grow", args: []string{"-load", "bodies", "-rate", "0", "-requests", "150000"}, gogc: "100", variants: []variant{body}},
		{name: "GOGC=100, bursts of frames of 128 KiB", args: []string{"-load", "bursts", "-rate", "0", "-requests", "4500"}, gogc: "100", variants: []variant{frame}},
	}
	answers = []string{"-rate", "0", "-requests", "300000"}
)

// The cache of the sample.
const (
	cached     = 20000
	entryBytes = 4 << 10
)

// A result is what the runs of a variant, or of the sample as it is, have shown.
type result struct {
	setting, variant     string
	predicted, collected []float64
	asIs                 []float64
	held                 int
}

func main() {
	runs := flag.Int("runs", 1, "how often each setting is run")
	from := flag.Int("from", 0, "the first run, by which the seeds are chosen")
	processors := flag.Int("processors", 1, "the sample's GOMAXPROCS: with more than 1 the counts depend on what else the machine does")
	write := flag.String("write", "", "the document whose table is rewritten")
	flag.Parse()
	os.Exit(command.Exit("trial", run(*runs, *from, *processors, *write), nil))
}

func run(runs, from, processors int, write string) error {
	ctx, end := interrupt.Context()
	defer end()
	temporary, err := os.MkdirTemp("", "dewpond-advise-trial-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	t := trial{processors: processors, dir: temporary, sample: filepath.Join(temporary, "sample")}
	build := exec.CommandContext(ctx, "go", "build", "-o", t.sample, "./cmd/dewpond/internal/advise/trial/sites")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the sample, in the root of the repository: %w", err)
	}
	if t.source, err = evidence.Open("cmd/dewpond"); err != nil {
		return err
	}
	done := 0
	for ; done < runs && ctx.Err() == nil; done++ {
		for _, s := range settings {
			if err := t.one(ctx, s, from+done); err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		fmt.Fprintf(os.Stderr, "trial: %d of %d runs\n", done+1, runs)
	}
	if ctx.Err() != nil { // what was measured until then is shown, and nothing is rewritten
		return errors.Join(context.Cause(ctx), t.report(done, from, ""))
	}
	return errors.Join(t.nothing(ctx), t.report(runs, from, write))
}

type trial struct {
	processors      int
	dir, sample     string
	source          *evidence.Source
	results         []*result
	inside, truths  int // of the intervals of bytes a second
	lives, livesOff int // of the mean life of the cache, and those more than 20 % off
}

// counts are what the sample prints.
type counts struct {
	Collections float64            `json:"collections"`
	Since       float64            `json:"collections_since_start"`
	Sites       map[string]float64 `json:"site_bytes_per_second"`
}

// sampled runs the sample.
func (t *trial) sampled(ctx context.Context, s setting, args ...string) (counts, error) {
	var c counts
	cmd := exec.CommandContext(ctx, t.sample, append(slices.Clone(s.args), args...)...)
	// On one processor the counts do not depend on what else the machine does: how much is allocated while
	// a collection runs would.
	cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", t.processors), "GOGC="+s.gogc, "GOMEMLIMIT="+s.limit)
	if s.limit == "" {
		cmd.Env[len(cmd.Env)-1] = "GOMEMLIMIT=off"
	}
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &c)
	}
	return c, err
}

// advised runs the sample as it is, and returns what is advised of it, reckoned with so many idle bytes,
// or as it is without a number.
func (t *trial) advised(ctx context.Context, s setting, profiles string, idle float64) (advice.Document, error) {
	all, err := filepath.Glob(filepath.Join(profiles, "*"))
	if err != nil {
		return advice.Document{}, err
	}
	r := look.Reader{Program: sites.Program{Modules: t.source.Modules()}}
	seen := new(look.Look)
	for _, name := range all {
		file, err := source.File(name)
		if err != nil {
			return advice.Document{}, err
		}
		if err := r.Read(ctx, seen, file); err != nil {
			return advice.Document{}, err
		}
	}
	var program look.Settings
	if s.gogc == "off" {
		gogc, limit := float64(model.Off), float64(120<<20)
		program = look.Settings{GOGC: &gogc, Limit: &limit}
	}
	facts, err := seen.Facts(program)
	if err != nil {
		return advice.Document{}, err
	}
	facts.Source = t.source.Of
	return advice.Make(facts, advice.Settings{MinGain: 0.05, Idle: idle}), nil
}

// one runs a setting as it is, and then as advised.
func (t *trial) one(ctx context.Context, s setting, i int) error {
	profiles := filepath.Join(t.dir, "profiles")
	if err := errors.Join(os.RemoveAll(profiles), os.Mkdir(profiles, 0o700)); err != nil {
		return err
	}
	seed := fmt.Sprint(seedOf(i))
	asIs, err := t.sampled(ctx, s, "-seed", seed, "-profiles", profiles)
	if err != nil {
		return err
	}
	for _, v := range s.variants {
		idle := -1.0
		if v.idle > 0 {
			idle = float64(v.idle << 20)
		}
		d, err := t.advised(ctx, s, profiles, idle)
		if err != nil {
			return err
		}
		if v == s.variants[0] {
			t.look(d, asIs)
		}
		counted, err := t.sampled(ctx, s, "-seed", seed, "-pool", v.pool, "-idle", fmt.Sprint(v.idle))
		if err != nil {
			return err
		}
		predicted := d.Together.PerSecond.Mid * d.Seconds
		if site := find(d, sitesOf[v.pool]); site != nil {
			predicted = (d.Collector.PerSecond.Mid - site.Saved.Mid) * d.Seconds
			if said := site.Why + " " + site.Options; v.advice != "" && (site.Advice != v.advice || !strings.Contains(said, v.says)) {
				return fmt.Errorf("for %s %s is advised, want %s with %q: %s", v.pool, site.Advice, v.advice, v.says, said)
			}
		} else if v.advice != "" {
			return fmt.Errorf("%s is no site", v.pool)
		}
		r := t.result(s.name, v.String())
		if s.start { // what it fills at first, it allocates as advised, too
			r.note(asIs.Since, asIs.Since-asIs.Collections+predicted, counted.Since)
		} else {
			r.note(asIs.Collections, predicted, counted.Collections)
		}
	}
	return nil
}

// seedOf returns the seed of a run. The sample takes those behind it, too.
func seedOf(run int) int { return 100*run + 1 }

// note adds the collections of a run as it is, those predicted of it as advised, and those counted then.
func (r *result) note(asIs, predicted, counted float64) {
	r.asIs = append(r.asIs, asIs)
	r.predicted = append(r.predicted, predicted)
	r.collected = append(r.collected, counted)
	if math.Abs(predicted-counted) <= max(1.5, counted/10) {
		r.held++
	}
}

// look notes whether the truth is in the intervals.
func (t *trial) look(d advice.Document, asIs counts) {
	for name, true := range asIs.Sites {
		if s := find(d, sitesOf[name]); s != nil && s.Samples >= 50 {
			t.truths++
			if b := s.BytesPerSecond; b.Low <= true && true <= b.High {
				t.inside++
			}
		}
	}
	if s := find(d, sitesOf["cache"]); s != nil && asIs.Sites["cache"] > 0 {
		t.lives++
		life := cached * entryBytes / asIs.Sites["cache"]
		if s.MeanLife == nil || s.MeanLife.Mid < 0.8*life || s.MeanLife.Mid > 1.2*life {
			t.livesOff++
		}
	}
}

func find(d advice.Document, function string) *advice.Site {
	i := slices.IndexFunc(d.Sites, func(s advice.Site) bool { return s.Function == function })
	if i < 0 {
		return nil
	}
	return &d.Sites[i]
}

func (t *trial) result(setting, variant string) *result {
	for _, r := range t.results {
		if r.setting == setting && r.variant == variant {
			return r
		}
	}
	t.results = append(t.results, &result{setting: setting, variant: variant})
	return t.results[len(t.results)-1]
}

// nothing looks whether a program that allocates next to nothing for its work is told so.
func (t *trial) nothing(ctx context.Context) error {
	profiles := filepath.Join(t.dir, "nothing")
	if err := os.Mkdir(profiles, 0o700); err != nil {
		return err
	}
	s := setting{args: []string{"-rate", "0", "-requests", "4000", "-work", "800", "-live", "0", "-cached", "10"}, gogc: "100"}
	if _, err := t.sampled(ctx, s, "-profiles", profiles); err != nil {
		return err
	}
	d, err := t.advised(ctx, s, profiles, -1)
	if err == nil && d.Verdict != advice.Nothing {
		err = fmt.Errorf("a program that nothing would help is told %q: the collector has %v of the CPU, allocation %v", d.Verdict, d.Collector.CPUShare, d.Allocation)
	}
	return err
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func around(values []float64) string {
	if low, high := slices.Min(values), slices.Max(values); low < high {
		return fmt.Sprintf("%s (%s to %s)", figure.Significant(median(values)), figure.Significant(low), figure.Significant(high))
	}
	return figure.Significant(median(values))
}

// report writes the table, and fails if too little has held.
func (t *trial) report(runs, from int, write string) error {
	rows := [][]string{{"setting", "pooled", "collections as it is", "predicted", "counted", "within 10 % or 1.5"}}
	held, all := 0, 0
	if len(t.results) == 0 {
		return errors.New("nothing was measured")
	}
	for _, r := range t.results {
		rows = append(rows, []string{r.setting, r.variant, around(r.asIs), around(r.predicted), around(r.collected), fmt.Sprintf("%d of %d", r.held, len(r.predicted))})
		held += r.held
		all += len(r.predicted)
	}
	var table bytes.Buffer
	if err := columns.Markdown(&table, rows); err != nil {
		return err
	}
	fmt.Fprintf(&table, "\nOf %d predictions %d hold. Medians of %s with the seeds %d to %d, and from the least to the greatest; %s %s/%s, GOMAXPROCS=%d, %s. The bytes a second of a site are in the interval in %d of %d cases, and the mean life of the cache, 3.3 s, within 20 %% in %d of %d.\n",
		all, held, figure.Several(runs, "run"), seedOf(from), seedOf(from+runs-1), runtime.Version(), runtime.GOOS, runtime.GOARCH, t.processors, time.Now().UTC().Format(time.DateOnly), t.inside, t.truths, t.lives-t.livesOff, t.lives)
	fmt.Print(table.String())
	if write != "" {
		if err := rewrite(write, table.String()); err != nil {
			return err
		}
	}
	switch {
	case held*10 < all*9:
		return fmt.Errorf("%d of %d predictions held, want nine of ten", held, all)
	case t.inside*20 < t.truths*19:
		return fmt.Errorf("%d of %d intervals have the truth, want 19 of 20", t.inside, t.truths)
	case t.livesOff*10 > t.lives:
		return fmt.Errorf("%d of %d mean lives are more than 20 %% off", t.livesOff, t.lives)
	}
	return nil
}

// The table is between these lines of the document.
const (
	begins = "<!-- go run ./cmd/dewpond/internal/advise/trial writes this table -->\n"
	ends   = "<!-- end of the table -->\n"
)

func rewrite(name, table string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), begins)
	_, after, also := strings.Cut(rest, ends)
	if !ok || !also {
		return fmt.Errorf("%s has no place for the table", name)
	}
	return outputs.WriteBytes(name, []byte(before+begins+"\n"+table+"\n"+ends+after))
}
