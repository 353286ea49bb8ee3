package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/attribution"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/process"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/source"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// saved writes a profile of 400 samples, 100 of them in mallocgc, and returns its file.
func saved(t *testing.T, types ...*profile.ValueType) string {
	t.Helper()
	functions := []*profile.Function{{ID: 1, Name: "runtime.mallocgc"}, {ID: 2, Name: "main.work"}}
	locations := []*profile.Location{{ID: 1, Line: []profile.Line{{Function: functions[0]}}}, {ID: 2, Line: []profile.Line{{Function: functions[1]}}}}
	p := &profile.Profile{
		SampleType: types, PeriodType: types[1], Period: 1e7, Function: functions, Location: locations,
		Sample: []*profile.Sample{{Value: []int64{100, 1e9}, Location: locations}, {Value: []int64{300, 3e9}, Location: locations[1:]}},
	}
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cpu.pb.gz")
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSharesOfAFile(t *testing.T) {
	s, err := source.File(saved(t, &profile.ValueType{Type: "samples", Unit: "count"}, &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}))
	if err != nil {
		t.Fatal(err)
	}
	shares, err := sharesOf(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d := cpuDocument{Shares: shares, System: &process.Change{Seconds: 30, Minor: 1234, Major: 2, Mappings: 70, More: -3, RSS: 64e6, Huge: 2 << 20, Lazy: 1e6, Missing: "what"}}
	style := terminal.Style{Width: 400}
	if err := errors.Join(attribution.Text(&out, shares, style), d.system(&out, style)); err != nil {
		t.Fatal(err)
	}
	d.System, d.Missing = nil, "why not"
	if err := d.system(&out, style); err != nil {
		t.Fatal(err)
	}
	said := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"400 samples in 4 s of processor time. Memory takes 25 % [21", "allocation 25 % [21", "marking 0 % [0, ", "page faults cannot tell", "page faults: cannot tell: a CPU profile of Go",
		"1234 minor page faults a second, 2 major ones; 70 mappings (-3); 64.0 MB resident, of which 2.10 MB in transparent huge pages, and 1.00 MB given back", "It does not count what.",
		"Linux's counters: cannot tell: why not.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}

	s, err = source.File(saved(t, &profile.ValueType{Type: "inuse_objects", Unit: "count"}, &profile.ValueType{Type: "inuse_space", Unit: "bytes"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sharesOf(t.Context(), s); !errors.Is(err, attribution.ErrType) {
		t.Errorf("a heap profile: %v", err)
	}
}
