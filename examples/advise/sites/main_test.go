package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func settingsOf(pooled string) settings {
	return settings{pooled: pooled, requests: 400, clients: 2, live: 8, cached: 50, every: 2, seed: 3}
}

// A service answers the same, whatever is pooled, and puts back what it gets.
func TestSameAnswers(t *testing.T) {
	var want int
	for _, pooled := range []string{"", "answer", "pieces", "cache", "answer,pieces,cache"} {
		s, err := newService(settingsOf(pooled))
		if err != nil {
			t.Fatal(err)
		}
		random, got := rand.New(rand.NewPCG(1, 2)), 0
		for range 500 {
			got += int(s.request(random))
		}
		if pooled == "" {
			want = got
		}
		if got != want || got == 0 {
			t.Errorf("pooled %q: %d, want %d", pooled, got, want)
		}
		out := uint64(0)
		if s.pooled["cache"] {
			out = uint64(len(s.cache)) // these are kept
		}
		if stats := s.pool.Stats(); stats.Gets-stats.Puts != out || (stats.Gets > 0) != (pooled != "") {
			t.Errorf("pooled %q: %d gets, %d puts, %d kept", pooled, stats.Gets, stats.Puts, out)
		}
	}
	if _, err := newService(settingsOf("answers")); err == nil || !strings.Contains(err.Error(), `no site "answers": give some of answer,pieces,cache`) {
		t.Errorf("an unknown site: %v", err)
	}
}

// What is saved is six times what /debug/pprof would answer, and a CPU profile.
func TestProfiles(t *testing.T) {
	o := settingsOf("answer")
	o.profiles = t.TempDir()
	if err := run(o); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(o.profiles, "*"))
	if err != nil || len(files) != 2*looks+1 {
		t.Errorf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// BenchmarkRequest is a request as it is, as advised, and as it is once more: the control.
func BenchmarkRequest(b *testing.B) {
	for _, of := range []struct{ name, pooled string }{
		{"as it is", ""}, {"answer pooled", "answer"}, {"pieces pooled", "pieces"}, {"both pooled", "answer,pieces"}, {"as it is, again", ""},
	} {
		b.Run(of.name, func(b *testing.B) {
			o := settingsOf(of.pooled)
			o.live, o.cached, o.every = 48, 1250, 8
			s, err := newService(o)
			if err != nil {
				b.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			before := read()
			for b.Loop() {
				s.request(random)
			}
			b.ReportMetric(1e6*float64(read()[0]-before[0])/float64(b.N), "collections/1e6")
			runtime.KeepAlive(s)
		})
	}
}
