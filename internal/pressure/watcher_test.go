package pressure

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// A listener is what a test hands to Watch. Its calls run on goroutines of their own.
type listener struct {
	mu    sync.Mutex
	looks int
	seen  []Level
}

func (h *listener) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looks++
}

func (h *listener) hear(level Level) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, level)
}

// expect waits until nothing moves, and requires what was heard by then.
func (h *listener) expect(t *testing.T, looks int, seen ...Level) {
	t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.looks != looks || !slices.Equal(h.seen, seen) {
		t.Errorf("it has heard %v by %d looks, want %v by %d", h.seen, h.looks, seen, looks)
	}
}

// Each level that the log gets is heard, in order, and none twice in a row.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Log
		var h listener
		l.Add(High)
		l.Add(Medium)
		stop := l.Watch(time.Second, h.look, h.hear)
		time.Sleep(500 * time.Millisecond) // not at a moment at which it looks
		h.expect(t, 1, Medium)
		for _, level := range []Level{Low, High, High, Low, Medium, Medium} {
			l.Add(level)
		}
		h.expect(t, 1, Medium)
		time.Sleep(time.Second)
		h.expect(t, 2, Medium, Low, High, Low, Medium)
		l.Add(Medium) // as it was
		time.Sleep(time.Second)
		h.expect(t, 3, Medium, Low, High, Low, Medium)
		stop()
		stop()
		l.Add(High)
		time.Sleep(time.Hour)
		h.expect(t, 3, Medium, Low, High, Low, Medium)
	})
}

// Of an empty log, and of one that ends with Low, nothing is heard at first. What the look
// itself adds is heard by it.
func TestWatchLow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Log
		var h listener
		add := make(chan Level, 2)
		add <- Low
		add <- High
		stop := l.Watch(time.Second, func() {
			h.look()
			l.Add(<-add)
		}, h.hear)
		time.Sleep(500 * time.Millisecond)
		h.expect(t, 1)
		time.Sleep(time.Second)
		h.expect(t, 2, High)
		stop()
	})
}

// After a stop nothing is heard: not by a look that is under way, nor of what f has added.
func TestWatchStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Log
		var h listener
		l.Add(High)
		stop := make(chan func(), 1)
		stop <- l.Watch(time.Second, func() {
			h.look()
			(<-stop)()
		}, h.hear)
		time.Sleep(time.Minute)
		h.expect(t, 1)

		stop <- l.Watch(time.Second, h.look, func(level Level) {
			h.hear(level)
			l.Add(Low)
			l.Add(High)
			(<-stop)()
		})
		time.Sleep(time.Minute)
		h.expect(t, 2, High)
	})
}
