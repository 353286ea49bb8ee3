package memstats

import (
	"bytes"
	"errors"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
)

// What this Go writes is read as this Go says it.
func TestRead(t *testing.T) {
	runtime.GC()
	var text bytes.Buffer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := pprof.Lookup("heap").WriteTo(&text, 1); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if !strings.HasPrefix(text.String(), Prefix) {
		t.Errorf("the text begins with %.40q", text.String())
	}
	s, err := Read(&text)
	if err != nil {
		t.Fatal(err)
	}
	for name, is := range map[string]bool{
		"TotalAlloc":    uint64(before.TotalAlloc) <= s.TotalAlloc && s.TotalAlloc <= after.TotalAlloc,
		"Mallocs":       before.Mallocs <= s.Mallocs && s.Mallocs <= after.Mallocs,
		"NumGC":         uint64(before.NumGC) <= s.NumGC && s.NumGC <= uint64(after.NumGC),
		"NumForcedGC":   s.NumForcedGC >= 1,
		"LastGC":        uint64(s.LastGC.UnixNano()) >= before.LastGC,
		"OldestGC":      !s.OldestGC.IsZero() && !s.OldestGC.After(s.LastGC),
		"NextGC":        s.NextGC >= 4<<20,
		"GCCPUFraction": s.GCCPUFraction > 0,
		"StackInuse":    s.StackInuse > 0,
		"Sys":           s.Sys > s.HeapAlloc && s.HeapAlloc > 0 && s.Sys > s.HeapIdle && s.HeapIdle >= s.HeapReleased,
		"Outside":       s.Outside() > 0 && s.Outside() < float64(s.Sys),
	} {
		if !is {
			t.Errorf("%s: read %+v, between %d and %d bytes allocated", name, s, before.TotalAlloc, after.TotalAlloc)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "no runtime.MemStats",
		"# runtime.MemStats\n": "no runtime.MemStats",
		"# runtime.MemStats\n# TotalAlloc = -1\n":      `TotalAlloc of runtime.MemStats: "-1" is no such number`,
		"# runtime.MemStats\n# GCCPUFraction = NaN\n":  `GCCPUFraction of runtime.MemStats: "NaN"`,
		"# runtime.MemStats\n# PauseEnd = [1 x]\n":     `PauseEnd of runtime.MemStats: "x"`,
		strings.Repeat("x", mostLine+1):                "token too long",
		"# TotalAlloc = 1\n# NumGC = 1\n# Mallocs = 1": "no runtime.MemStats",
	} {
		_, err := Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	var text bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&text, 1); err != nil {
		t.Fatal(err)
	}
	whole := text.String()
	if _, err := Read(strings.NewReader(whole[:strings.Index(whole, "# NumGC")])); !errors.Is(err, ErrNone) {
		t.Errorf("a text that is cut off: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	var text bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&text, 1); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Add([]byte("# runtime.MemStats\n# Stack = 1 / 2\n# PauseEnd = [0 0]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Read(bytes.NewReader(text))
		if (s == nil) == (err == nil) {
			t.Errorf("%v and %v", s, err)
		}
		if s != nil && !(s.Outside() >= 0) {
			t.Errorf("%v outside the heap", s.Outside())
		}
	})
}
