package progress

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/rounds"
)

func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		l := newLines(&out, "dewpond bench", 3)
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

// The bar is one line that says where the run is, and nothing of it remains.
func TestBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		b := newBar(&out, 60, 3)
		b.Begin(rounds.Turn{Contender: "nop"})
		b.Begin(rounds.Turn{Contender: "make"})
		time.Sleep(repaint + repaint/2)
		synctest.Wait()
		b.Close()
		painted, found := strings.CutPrefix(out.String(), wipe)
		painted, closed := strings.CutSuffix(painted, wipe)
		if !found || !closed || !strings.HasPrefix(painted, "[====        ] 1/3 rounds") || !strings.HasSuffix(painted, "; now ma") || len(painted) != 59 {
			t.Errorf("painted %q: want one line of 59 columns that is wiped", out.String())
		}
	})
}

// An amount says how much is done, of how much if that is known, and on a terminal is one line of which
// nothing remains.
func TestAmount(t *testing.T) {
	text := func(n int64) string { return fmt.Sprint(n, " MB") }
	synctest.Test(t, func(t *testing.T) {
		var known, unknown, painted lockedBuffer
		amounts := []*Amount{
			newAmount(&known, 0, "dewpond advise", "reading heap", 100, text),
			newAmount(&unknown, 0, "dewpond advise", "reading heap", 0, text),
			newAmount(&painted, 50, "dewpond advise", "reading heap", 100, text),
		}
		for _, a := range amounts {
			a.Add(20)
			a.Add(5)
		}
		time.Sleep(every + repaint/2)
		synctest.Wait()
		for _, a := range amounts {
			a.Close()
		}
		if got, want := known.String(), "dewpond advise: reading heap: 25 MB of 100 MB, 5 s gone, about 15 s left\n"; got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
		if got, want := unknown.String(), "dewpond advise: reading heap: 25 MB, 5 s gone\n"; got != want {
			t.Errorf("without a total it wrote %q, want %q", got, want)
		}
		bars := strings.Split(painted.String(), wipe)
		if last := bars[len(bars)-2]; !strings.HasPrefix(last, "reading heap [===         ] 25 MB of 100 MB") || len(last) > 49 || bars[len(bars)-1] != "" {
			t.Errorf("painted %q: want one line of 49 columns that is wiped", bars)
		}
	})
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
