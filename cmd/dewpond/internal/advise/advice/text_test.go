package advice

import (
	"errors"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/evidence"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pools"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// text returns the answer for a site of literal bytes, after a change of what is known.
func text(t *testing.T, change func(*Facts)) (string, Document) {
	t.Helper()
	f, settings := situation{line: literal, live: 64_000, liveNow: 64_000}.facts(t)
	change(&f)
	d := Make(f, settings)
	var out strings.Builder
	if err := Text(&out, d, terminal.Style{Width: 120}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), " "), d
}

// What is known decides what is said, and what is not known is not said.
func TestText(t *testing.T) {
	none := estimate.CannotTell("give a CPU profile")
	for name, of := range map[string]struct {
		change   func(*Facts)
		verdict  Verdict
		has, not string
	}{
		"pool": {func(f *Facts) {}, Pool, "1: 0 [0, 0.4] collections/s instead of 10.", "cannot tell"},
		"collections not known": {func(f *Facts) { f.Known = false }, Pool,
			"collections cannot tell: give what /debug/pprof/heap?debug=1 answers at the beginning and at the end", "instead of"},
		"nothing known": {func(f *Facts) { f.Known = false; f.CPU.Collector, f.CPU.Allocation = none, none }, CannotTell,
			"Whether a pool would be felt cannot be told", "of the CPU used"},
		"forced":  {func(f *Facts) { f.Forced = 3 }, Pool, "3 more that the program has asked for", ""},
		"limited": {func(f *Facts) { f.Heap.Limit, f.Heap.Goal, f.Heap.Allocated = 62.5e6, 60e6, 1000e6 }, Limit, "80 % of the memory limit of 62.5 MB live: the collector will take up to half of the CPU before memory runs out. In this order: a larger limit, fewer idle bytes", ""},
		"nothing": {func(f *Facts) { f.CPU.Collector, f.CPU.Allocation = estimate.Exact(0.01), estimate.Exact(0.005) }, Nothing,
			"A pool would buy nothing that you could feel: the collector and allocation together take 1.5 % of the CPU used, which is less than 2 %", "BytePool"},
		"a note": {func(f *Facts) { f.Notes = []string{"no \x1b[2J profile"} }, Pool, `no \x1b[2J profile`, "\x1b"},
		"pools": {func(f *Facts) {
			f.Pools = []pools.Seen{{Name: "fr\x1bames", Gets: 2000, Hits: 1000, Idle: 4096, Findings: []pools.Finding{{Finding: "it is full", Option: "MaxIdleBytes"}}}}
		}, Pool, `fr\x1bames: it is full. Change: MaxIdleBytes.`, "\x1b"},
		"a pool in checked mode": {func(f *Facts) {
			few := pools.Quantiles{Watched: 7, P50: none, P90: none}
			f.Pools = []pools.Seen{{Name: "fr\x1bames", Sampled: &pools.Sampled{Idle: few, Cap: 2048,
				Out:   pools.Quantiles{Watched: 300, P50: estimate.Estimate{Low: 0.001, Mid: 0.002, High: 0.003}, P90: estimate.Exact(1)},
				Asked: &pools.Quantiles{Watched: 400, P50: estimate.Exact(500), P90: estimate.Exact(2000)}}}}
		}, Pool, `fr\x1bames, of those that checked mode watches: out P50 2.00 ms [1.00, 3.00], P90 1.00 s (300 watched); idle cannot tell: give a CPU profile; ` +
			`sizes asked for P50 500 B, P90 2.00 kB (400 watched). A cap of 2.05 kB holds nine of ten: begin with Get(2048)[:0] where`, "\x1b"},
		"objects in checked mode": {func(f *Facts) {
			f.Pools = []pools.Seen{{Name: "orders", Sampled: &pools.Sampled{}}}
		}, Pool, "orders, of those that checked mode watches: out P50 0 ns, P90 0 ns (0 watched); idle P50 0 ns, P90 0 ns (0 watched).", "cap of"},
		"as it is set":    {func(f *Facts) { f.Set = true }, Pool, "GOGC 100, no memory limit", "as if"},
		"as if it is set": {func(f *Facts) {}, Pool, "as if GOGC 100 and no memory limit (if that is not so, give --gogc", ""},
		"another module": {func(f *Facts) {
			for _, s := range f.Window.Sites {
				s.Own = false
			}
		}, CannotTell, "No line of your module is in the profile, so none can be advised: give the directory of the program's source", "worth a pool."},
		"no source": {func(f *Facts) {
			f.Source = func(sites.Frame) (evidence.Finding, error) {
				return evidence.Finding{}, errors.New("its source is not there")
			}
		}, CannotTell, "What a line makes that would be worth a pool is unknown: its source is not there.", "No site"},
		"nothing, but why": {func(f *Facts) {
			f.Source = func(sites.Frame) (evidence.Finding, error) {
				return evidence.Finding{Tool: evidence.None, Why: "a map"}, nil
			}
		}, Nothing, "none: a map", "--json FILE"},
		"a window alone": {func(f *Facts) {
			for _, s := range f.Window.Sites {
				s.Live, s.Life = none, none
			}
			f.Window.Live = none
		}, Pool, "cannot tell", "put it back where it is replaced"},
	} {
		t.Run(name, func(t *testing.T) {
			got, d := text(t, of.change)
			if d.Verdict != of.verdict || !strings.Contains(got, of.has) || of.not != "" && strings.Contains(got, of.not) {
				t.Errorf("%s; want %s, with %q and without %q:\n%s", d.Verdict, of.verdict, of.has, of.not, got)
			}
		})
	}
}

// An estimate in a table has its unit once, unless the ends of its interval have others.
func TestShort(t *testing.T) {
	format := func(v float64) string {
		if v >= 1000 {
			return "1 kB"
		}
		return "9 B"
	}
	for _, of := range []struct {
		e    estimate.Estimate
		want string
	}{
		{estimate.Estimate{Low: 1, Mid: 2, High: 3}, "9 B [9, 9]"},
		{estimate.Estimate{Low: 1, Mid: 2, High: 1000}, "9 B [9, 1 kB]"},
		{estimate.Exact(2), "9 B"},
		{estimate.CannotTell("why"), "cannot tell"},
	} {
		if got := short(of.e, format); got != of.want {
			t.Errorf("%v is %q, want %q", of.e, got, of.want)
		}
	}
}
