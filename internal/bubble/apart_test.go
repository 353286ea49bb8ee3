package bubble

import (
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/dewpond/dewpond/internal/go125/synctest"
)

func TestBenchmarksAreSeen(t *testing.T) {
	for args, want := range map[string]bool{
		"": false, "-test.v -test.run=x": false, "-test.bench=": false, "-test.bench": false, "-test.benchtime=1s": false, "test.bench=x": false,
		"-test.bench=x": true, "--test.bench=x": true, "-test.v -test.bench .": true, "-test.bench=XXX": true,
	} {
		if got := benchmarks(strings.Fields(args)); got != want {
			t.Errorf("benchmarks(%q) is %v", args, got)
		}
	}
}

// A text is found wherever a read ends, and is not where it is not.
func TestContains(t *testing.T) {
	const text = "testing/sync.Test"
	for _, at := range []int{0, 1, 1<<18 - len(text), 1<<18 - 1, 1 << 18, 1<<19 - 5, 1<<19 + 7} {
		file := strings.Repeat("testing/", at/8) + strings.Repeat("x", at%8) + text
		if found, err := contains(iotest.HalfReader(strings.NewReader(file)), text); !found || err != nil {
			t.Errorf("after %d bytes: %v, %v", at, found, err)
		}
		if found, err := contains(strings.NewReader(file[:len(file)-1]), text); found || err != nil {
			t.Errorf("without its end, after %d bytes: %v, %v", at, found, err)
		}
	}
	if found, err := contains(iotest.ErrReader(iotest.ErrTimeout), text); found || err == nil {
		t.Errorf("of what cannot be read: %v, %v", found, err)
	}
}

// Only the binary of a test that can enter a bubble, and measures nothing, keeps bubbles apart.
func TestApart(t *testing.T) {
	no, yes := func() bool { return false }, func() bool { return true }
	test, program := &debug.BuildInfo{Path: "example.com/server.test"}, &debug.BuildInfo{Path: "example.com/server"}
	for _, of := range []struct {
		told        bool
		environment string
		info        *debug.BuildInfo
		args        []string
		linked      func() bool
		why         string
	}{
		{true, "", test, nil, yes, ""},
		{true, "on", test, []string{"-test.run=x"}, yes, ""},
		{false, "", test, nil, yes, "this Go does not tell who is in one"},
		{true, "off", test, nil, yes, "DEWPOND_BUBBLES=off"},
		{true, "", nil, nil, yes, "the binary has no build information"},
		{true, "", program, nil, yes, "this is no test"},
		{true, "", test, []string{"-test.bench=."}, yes, "-test.bench is set"},
		{true, "", test, nil, no, "nothing here calls synctest.Test"},
		{true, "", test, []string{"server.test", "-test.bench", "."}, yes, "-test.bench is set"},
	} {
		if why := together(of.told, of.environment, of.info, of.args, of.linked); why != of.why {
			t.Errorf("%+v: %q", of, why)
		}
	}
	if Told && !linked() { // Go 1.24 skips what calls it
		t.Error("synctest.Test is not found in this binary, which calls it")
	}
}

func TestInside(t *testing.T) {
	if Inside() || Here() != 0 {
		t.Error("outside of bubbles")
	}
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []time.Duration{0, time.Hour, 26 * 365 * 24 * time.Hour, 100 * 365 * 24 * time.Hour} {
			time.Sleep(d)
			if !Inside() || Here() != Of(time.Now()) {
				t.Errorf("in a bubble at %v", time.Now())
			}
		}
	})
}

// Bubbles that have ended have no part for long, those that live keep theirs.
func TestPartsAreForgotten(t *testing.T) {
	forgotten := map[uint64]bool{}
	s := Parts[*uint64]{
		Make:   func(bubble uint64) *uint64 { return &bubble },
		Forget: func(part *uint64) { forgotten[*part] = true },
	}
	most := 0
	bubbles := func(t *testing.T, n int) {
		for range n {
			synctest.Test(t, func(t *testing.T) {
				if part := s.Of(Here()); *part != Here() || s.Of(Here()) != part {
					t.Errorf("bubble %d has part %d", Here(), *part)
				}
			})
			most = max(most, len(s.All(func() {})))
		}
	}
	bubbles(t, leastLook-2)
	old := s.All(func() {})[0]
	if part, ok := s.Find(*old); !ok || part != old {
		t.Errorf("part %d is %v, %v", *old, part, ok)
	}

	end := lasting(t, &s, 3)
	bubbles(t, 5*leastLook)
	if !forgotten[*old] {
		t.Error("a bubble that has ended was not forgotten")
	}
	if _, ok := s.Find(*old); ok {
		t.Error("a forgotten part is found")
	}
	if most > leastLook {
		t.Errorf("%d parts", most)
	}
	end()
}

// The parts may be more than those that are usual, if so many bubbles live.
func TestPartsOfManyBubbles(t *testing.T) {
	s := Parts[*uint64]{Make: func(bubble uint64) *uint64 { return &bubble }, Forget: func(*uint64) { t.Error("forgotten") }}
	synctest.Test(t, func(*testing.T) {}) // skips the test where Go has no bubbles
	end := lasting(t, &s, 2*leastLook+2)
	if n := len(s.All(func() {})); n != 2*leastLook+2 {
		t.Errorf("%d parts", n)
	}
	end()
}

// lasting begins bubbles that take part, and live until the function is called that it returns. Each
// must have its part until then.
func lasting(t *testing.T, s *Parts[*uint64], n int) (end func()) {
	began, ending := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range n {
		all.Add(1)
		go func() {
			defer all.Done()
			synctest.Test(t, func(t *testing.T) {
				part := s.Of(Here())
				began <- struct{}{}
				<-ending
				if s.Of(Here()) != part {
					t.Error("a bubble that lives was forgotten")
				}
			})
		}()
		<-began
	}
	return func() {
		close(ending)
		all.Wait()
	}
}
