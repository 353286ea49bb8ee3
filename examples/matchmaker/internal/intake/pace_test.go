package intake

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A timed answer knows until when it may be read.
type timed struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (t *timed) SetReadDeadline(d time.Time) error {
	t.deadline = d
	return nil
}

// sent is a body that comes a part at a time.
type sent struct {
	parts []int
	err   error
}

func (s *sent) Read(b []byte) (int, error) {
	if len(s.parts) == 0 {
		return 0, s.err
	}
	n := min(len(b), s.parts[0])
	if s.parts[0] -= n; s.parts[0] == 0 {
		s.parts = s.parts[1:]
	}
	return n, nil
}

func (*sent) Close() error { return nil }

// The time of a body follows what it says that it has, or else what has come of it; and what has come
// alone while somebody waits for its memory.
func TestPace(t *testing.T) {
	const part = 128 << 10 // worth 2 s
	for _, major := range []int{1, 2} {
		for _, tt := range []struct {
			name   string
			length int64
			hurry  bool
			want   [3]time.Duration // of each read, from the first on
		}{
			{"a body that says its length", 2 * part, false, [3]time.Duration{5 * time.Second, 5 * time.Second, 5 * time.Second}},
			{"one that does not", -1, false, [3]time.Duration{time.Second, 3 * time.Second, 5 * time.Second}},
			{"one that others wait for", 2 * part, true, [3]time.Duration{time.Second, 3 * time.Second, 5 * time.Second}},
		} {
			synctest.Test(t, func(t *testing.T) {
				p, w := Usual(), &timed{ResponseRecorder: httptest.NewRecorder()}
				r := httptest.NewRequest("PUT", "/", nil)
				r.Body, r.ContentLength, r.ProtoMajor = &sent{[]int{part, part}, os.ErrDeadlineExceeded}, tt.length, major
				p.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					time.Sleep(time.Hour) // waiting for something else costs the body nothing
					begun := time.Now()
					if tt.hurry {
						defer p.Hurry()()
					}
					for i, want := range tt.want {
						n, err := r.Body.Read(make([]byte, part))
						if got := w.deadline.Sub(begun); got != want {
							t.Errorf("HTTP/%d, %s: read %d has %v, want %v", major, tt.name, i, got, want)
						}
						if late := new(SlowError); i == 2 && !errors.As(err, &late) || i < 2 && (n != part || err != nil) {
							t.Errorf("HTTP/%d, %s: read %d is %d, %v", major, tt.name, i, n, err)
						}
						time.Sleep(time.Millisecond)
					}
				})).ServeHTTP(w, r)
			})
		}
	}
}

// What begins to wait hurries those that are read already.
func TestHurryWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := Usual(), &timed{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequest("PUT", "/", nil)
		r.Body, r.ContentLength = &sent{[]int{1}, io.EOF}, 10<<20
		p.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			begun := time.Now()
			r.Body.Read(make([]byte, 1))
			if got := w.deadline.Sub(begun); got != 161*time.Second {
				t.Errorf("10 MiB have %v", got)
			}
			over := p.Hurry()
			if got := w.deadline.Sub(begun).Round(time.Millisecond); got != time.Second {
				t.Errorf("a byte has %v", got)
			}
			over()
			r.Body.Read(make([]byte, 1))
			if !w.deadline.IsZero() {
				t.Errorf("after its end there is a deadline, %v", w.deadline)
			}
		})).ServeHTTP(w, r)
		if !w.deadline.IsZero() {
			t.Errorf("after the answer there is a deadline, %v", w.deadline)
		}
	})
}

// A connection's share is of what it has at once.
func TestShare(t *testing.T) {
	s := NewShare(10)
	if !s.Take("a", 6) || s.Take("a", 5) || !s.Take("b", 10) || !s.Take("a", 4) {
		t.Error("each has 10")
	}
	s.Give("a", 6)
	s.Give("a", 4)
	s.Give("b", 10)
	if len(s.held) > 0 {
		t.Errorf("%v is kept of those that have nothing", s.held)
	}
	if !NewShare(0).Take("a", 1<<40) {
		t.Error("0 is no bound")
	}
}
