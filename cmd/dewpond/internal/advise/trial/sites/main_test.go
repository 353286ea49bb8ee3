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
	return settings{load: "answers", pooled: pooled, window: 100, requests: 400, clients: 2, live: 8, cached: 50, every: 2, seed: 3}
}

// A service answers the same, whatever is pooled, and puts back what it gets.
func TestSameAnswers(t *testing.T) {
	for name, variants := range map[string][]string{
		"answers":  {"", "answer", "pieces", "cache", "answer,pieces,cache"},
		"messages": {"", "message"},
		"orders":   {"", "answer", "order", "answer,order"},
		"bodies":   {"", "answer", "body", "answer,body"},
		"bursts":   {"", "answer", "frame", "answer,frame"},
	} {
		var want int
		for _, pooled := range variants {
			o := settingsOf(pooled)
			o.load = name
			s, err := newService(o)
			if err != nil {
				t.Fatal(err)
			}
			random, got := rand.New(rand.NewPCG(1, 2)), 0
			for range 500 {
				got += int(loads[name].request(s, random))
			}
			if pooled == "" {
				want = got
			}
			if got != want || got == 0 {
				t.Errorf("%s, pooled %q: %d, want %d", name, pooled, got, want)
			}
			out := uint64(0) // what is kept
			if s.pooled["cache"] {
				out = uint64(len(s.cache))
			}
			if s.pooled["message"] {
				out = uint64(len(s.window))
			}
			if stats := s.stats(); stats.Gets-stats.Puts != out || (stats.Gets > 0) != (pooled != "") {
				t.Errorf("%s, pooled %q: %d gets, %d puts, %d kept", name, pooled, stats.Gets, stats.Puts, out)
			}
		}
	}
	if _, err := newService(settingsOf("answers")); err == nil || !strings.Contains(err.Error(), `no site "answers": give some of answer,pieces,cache`) {
		t.Errorf("an unknown site: %v", err)
	}
	if _, err := newService(settings{load: "none"}); err == nil || !strings.Contains(err.Error(), `no load "none": give one of answers, bodies, bursts, messages, orders`) {
		t.Errorf("an unknown load: %v", err)
	}
}

// An order that is used again has nothing of the one before it.
func TestOrdersAreReset(t *testing.T) {
	o := settingsOf("order")
	o.load = "orders"
	s, err := newService(o)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		s.order(random)
		if got := s.orders.Get(); *got != (order{}) {
			t.Fatal("an order is not as new")
		}
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
	for _, of := range []struct{ load, name, pooled string }{
		{"answers", "as it is", ""}, {"answers", "answer pooled", "answer"}, {"answers", "pieces pooled", "pieces"}, {"answers", "both pooled", "answer,pieces"}, {"answers", "as it is, again", ""},
		{"messages", "as it is", ""}, {"messages", "message pooled", "message"}, {"messages", "as it is, again", ""},
		{"orders", "as it is", ""}, {"orders", "order pooled", "order"}, {"orders", "as it is, again", ""},
		{"bodies", "as it is", ""}, {"bodies", "body pooled", "body"}, {"bodies", "as it is, again", ""},
		{"bursts", "as it is", ""}, {"bursts", "frame pooled", "frame"}, {"bursts", "as it is, again", ""},
	} {
		b.Run(of.load+", "+of.name, func(b *testing.B) {
			o := settingsOf(of.pooled)
			o.load, o.live, o.cached, o.every, o.window = of.load, 48, 1250, 8, 20_000
			s, err := newService(o)
			if err != nil {
				b.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			before := read()
			for b.Loop() {
				loads[of.load].request(s, random)
			}
			b.ReportMetric(1e6*float64(read()[0]-before[0])/float64(b.N), "collections/1e6")
			runtime.KeepAlive(s)
		})
	}
}
