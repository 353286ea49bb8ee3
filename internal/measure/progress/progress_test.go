package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/internal/measure/rounds"
)

func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		l := newLines(&out, 3)
		l.Begin(rounds.Turn{Contender: "nop"})
		time.Sleep(4 * time.Second)
		if text := out.String(); text != "" {
			t.Errorf("after 4 s: %q, want nothing yet", text)
		}
		l.Begin(rounds.Turn{Contender: "treiber", Round: 1})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		l.Close()
		want := "dewpond bench: 1/3 rounds, 5 s gone, about 7 s left; now treiber, round 2\n"
		if text := out.String(); text != want {
			t.Errorf("after 6 s: %q, want %q", text, want)
		}
	})
}

// TestBar wants the bar to end when it is closed early, and to say where it is.
func TestBar(t *testing.T) {
	var out lockedBuffer
	b := newBar(&out, 3)
	b.Begin(rounds.Turn{Contender: "nop"})
	b.Begin(rounds.Turn{Contender: "make"})
	if text := b.state.String(); !strings.HasPrefix(text, "1/3 rounds") || !strings.HasSuffix(text, "now make, round 1") {
		t.Errorf("the bar says %q", text)
	}
	b.Close()
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
