package decay

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/go125/synctest"
)

const much = 1 << 40 // bytes, more than a quarter of any heap

func nothing() int64 { return 0 }

// What decay lets go is collected by the tenth second, unless a collection has come by itself, and at most
// once in a timeout.
func TestDecayAsksForCollections(t *testing.T) {
	uncollected(t)
	for _, tt := range []struct {
		name  string
		bytes int64
		own   bool // a collection comes by itself
		after []time.Duration
		want  []uint64 // collections asked for, after each of these
	}{
		{name: "much", bytes: much, after: []time.Duration{5 * time.Second, 5 * time.Second, time.Hour}, want: []uint64{0, 1, 1}},
		{name: "little", bytes: collectBytes - 1, after: []time.Duration{time.Hour}, want: []uint64{0}},
		{name: "by itself", bytes: much, own: true, after: []time.Duration{time.Hour}, want: []uint64{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g garbage
				var asked atomic.Uint64
				before := cycles()
				g.letGo(tt.bytes, 0, time.Minute, nothing, func() { asked.Add(1) })
				if tt.own {
					runtime.GC()
				}
				for i, after := range tt.after {
					time.Sleep(after)
					synctest.Wait()
					if n := asked.Load(); n != tt.want[i] || !tt.own && cycles()-before != n {
						t.Errorf("after %v %d collections were asked for, and there were %d; want %d", after, n, cycles()-before, tt.want[i])
					}
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		var g garbage
		var asked atomic.Uint64
		for range 120 { // two timeouts and a bit
			g.letGo(much, 0, time.Minute, nothing, func() { asked.Add(1) })
			time.Sleep(time.Second)
		}
		if n := asked.Load(); n != 2 {
			t.Errorf("in two minutes of decay with a timeout of one %d collections were asked for, want 2", n)
		}
	})
}

// Of objects whose memory is unknown, a quarter of a pool counts as a quarter of the heap.
func TestDecayAsksForCollectionsOfObjects(t *testing.T) {
	uncollected(t)
	ballast := make([]byte, 2*collectShare*collectBytes)
	for share, want := range map[float64]uint64{0.2: 0, 0.3: 1} {
		synctest.Test(t, func(t *testing.T) {
			var g garbage
			var asked atomic.Uint64
			for range 2 { // in two steps
				g.letGo(40, share/2, time.Minute, nothing, func() { asked.Add(1) })
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if asked.Load() != want {
				t.Errorf("for %v of the objects %d collections were asked for, want %d", share, asked.Load(), want)
			}
		})
	}
	runtime.KeepAlive(ballast)
}

// Where the second tiers hold much of the heap, two collections are asked for.
func TestDecayAsksForTwoCollections(t *testing.T) {
	uncollected(t)
	for spilled, want := range map[int64]uint64{0: 1, collectBytes - 1: 1, much: 2} {
		synctest.Test(t, func(t *testing.T) {
			var g garbage
			var asked atomic.Uint64
			before := cycles()
			g.letGo(much, 0, time.Minute, func() int64 { return spilled }, func() { asked.Add(1) })
			time.Sleep(time.Hour)
			synctest.Wait()
			if asked.Load() != want || cycles()-before != want {
				t.Errorf("with %d bytes in second tiers %d collections were asked for, and there were %d; want %d", spilled, asked.Load(), cycles()-before, want)
			}
		})
	}
}

// A timer that has died with its bubble keeps nobody from asking.
func TestCollectionsAreAskedForAfterABubble(t *testing.T) {
	uncollected(t)
	var g garbage
	var asked atomic.Uint64
	for range 2 {
		synctest.Test(t, func(t *testing.T) { g.letGo(much, 0, time.Minute, nothing, func() { asked.Add(1) }) })
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour) // another clock
		g.letGo(much, 0, time.Minute, nothing, func() { asked.Add(1) })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if asked.Load() == 0 {
			t.Error("none was asked for")
		}
	})
}

// DEWPOND_COLLECT=off forbids collections.
func TestCollectionsAreForbidden(t *testing.T) {
	for value, want := range map[string]bool{"": false, "on": false, "off": true} {
		t.Setenv(Environment, value)
		if forbidden() != want {
			t.Errorf("%s=%q forbids: %v", Environment, value, !want)
		}
	}
}

// cycles returns how many collections there were.
func cycles() uint64 {
	s := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
