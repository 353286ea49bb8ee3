package dewslog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewslog"
	"github.com/dewpond/dewpond/dewtest"
)

// The standard library's own tests of handlers.
func TestConformance(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	var out bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out.Reset()
		return dewslog.New(&out, pool, nil)
	}, func(t *testing.T) map[string]any {
		line := map[string]any{}
		if err := json.Unmarshal(out.Bytes(), &line); err != nil {
			t.Fatalf("%v in %q", err, out.Bytes())
		}
		return line
	})
}

// Each line is as slog.JSONHandler writes it.
func TestAsJSONHandler(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	upper := func(groups []string, a slog.Attr) slog.Attr {
		a.Key = strings.ToUpper(strings.Join(append(groups, a.Key), "."))
		return a
	}
	for _, options := range []*slog.HandlerOptions{nil, {Level: slog.LevelDebug, AddSource: true}, {ReplaceAttr: upper}} {
		var ours, theirs bytes.Buffer
		for _, h := range []slog.Handler{dewslog.New(&ours, pool, options), slog.NewJSONHandler(&theirs, options)} {
			for range 2 {
				r := slog.NewRecord(time.Unix(1_700_000_000, 5).UTC(), slog.LevelWarn, "tabs\t, \"quotes\", \x01 and \xff", 0)
				r.Add("i", -1, "u", uint(1), "f", 0.25, "big", 1e300, "whole", 3.0, "nan", math.NaN(), "b", true, "d", time.Second,
					"t", time.Unix(0, 0).UTC(), "err", errors.New("no"), "nil", nil, "s", []int{1}, "g", slog.GroupValue(slog.Int("x", 1)),
					"empty", slog.GroupValue(), "é", "ü", "long", strings.Repeat("dew", 10_000))
				if err := h.Handle(t.Context(), r); err != nil {
					t.Error(err)
				}
				h = h.WithGroup("a").WithAttrs([]slog.Attr{slog.Int("n", 1)}).WithGroup("b").WithAttrs(nil)
			}
			if got, want := h.Enabled(t.Context(), slog.LevelDebug), options != nil && options.Level != nil; got != want {
				t.Errorf("Enabled(debug) = %v", got)
			}
		}
		if ours.String() != theirs.String() {
			t.Errorf("got  %.900s\nwant %.900s", &ours, &theirs)
		}
	}
}

// Each value is as slog.JSONHandler writes it, also one whose methods fail.
func TestValuesAsJSONHandler(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	number := 7
	for name, value := range map[string]any{
		"nil":                       nil,
		"typed nil error":           (*fault)(nil),
		"typed nil Marshaler":       (*bomb)(nil),
		"nil pointer":               (*int)(nil),
		"nil map":                   map[string]int(nil),
		"nil slice":                 []int(nil),
		"nil func":                  (func())(nil),
		"error":                     errors.New("no \"way\""),
		"wrapped error":             fmt.Errorf("a: %w", io.EOF),
		"joined errors":             errors.Join(io.EOF, io.ErrNoProgress),
		"error that panics":         fault{},
		"error that marshals":       marshaledError{},
		"MarshalJSON panics":        bomb{},
		"MarshalJSON fails":         failing{},
		"MarshalJSON is broken":     json.RawMessage("{"),
		"MarshalText panics":        &textBomb{},
		"MarshalText of a map":      map[textBomb]int{{}: 1},
		"MarshalText":               net.IPv4(127, 0, 0, 1),
		"LogValue panics":           valueBomb{},
		"LogValue never ends":       endless{},
		"LogValue is a group":       slog.GroupValue(slog.Any("in", valuer{})),
		"LogValue":                  valuer{},
		"pointer to a LogValuer":    &valuer{},
		"level":                     slog.LevelError + 1,
		"duration":                  90 * time.Second,
		"time":                      time.Date(2026, 2, 28, 23, 59, 59, 999, time.FixedZone("x", -3600)),
		"time at the zero":          time.Time{},
		"pointer":                   &number,
		"pointer to a pointer":      func() any { p := &number; return &p }(),
		"struct":                    struct{ A, b int }{1, 2},
		"map":                       map[string]any{"b": 1, "a": []any{nil, 1.5}},
		"bytes":                     []byte("dew"),
		"array":                     [2]bool{true},
		"HTML":                      "<a href='x'>&amp;</a>",
		"HTML in a struct":          struct{ S string }{"<&>"},
		"lines of JavaScript":       "a\u2028b\u2029c",
		"control bytes":             "\x00\x1f\x7f\b\f",
		"not UTF-8":                 "a\xffb\xc3",
		"the replacement character": "\ufffd",
		"small float":               1e-7,
		"minus zero":                math.Copysign(0, -1),
		"infinite":                  math.Inf(1),
		"float32":                   float32(0.1),
		"largest":                   uint64(math.MaxUint64),
		"smallest":                  int64(math.MinInt64),
		"complex":                   complex(1, 2),
		"channel":                   make(chan int),
		"source":                    &slog.Source{Function: "f", Line: 3},
		"empty source":              &slog.Source{},
		"no source":                 (*slog.Source)(nil),
		"attributes":                []slog.Attr{slog.Int("a", 1), {}},
	} {
		var ours, theirs bytes.Buffer
		for _, h := range []slog.Handler{dewslog.New(&ours, pool, nil), slog.NewJSONHandler(&theirs, nil)} {
			r := slog.NewRecord(time.Time{}, slog.LevelInfo, "m", 0)
			r.Add("before", 1, "k", value, "after", 2)
			if err := h.Handle(t.Context(), r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		got, want := ours.String(), theirs.String()
		if name == "LogValue panics" || name == "LogValue never ends" { // the text has a stack, which differs
			got, _, _ = strings.Cut(got, `\n`)
			want, _, _ = strings.Cut(want, `\n`)
		}
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
}

// A time that RFC 3339 does not have is an error in the line. slog.JSONHandler writes it
// behind the error, which is no JSON.
func TestTimeOutOfRange(t *testing.T) {
	var out bytes.Buffer
	slog.New(dewslog.New(&out, dewtest.NewBytePool(t, dewpond.BytePoolOptions{}), nil)).Info("m", "k", time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC))
	if line := map[string]any{}; json.Unmarshal(out.Bytes(), &line) != nil || !strings.HasPrefix(fmt.Sprint(line["k"]), "!ERROR:") {
		t.Errorf("%s", &out)
	}
}

// A fault reads what a nil pointer does not have, and an empty one panics.
type fault struct{ text *string }

func (f fault) Error() string { return *f.text }

type marshaledError struct{ fault }

func (marshaledError) MarshalJSON() ([]byte, error) { return []byte(`{"<":1}`), nil }

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, io.ErrShortBuffer }

type textBomb struct{}

func (textBomb) MarshalText() ([]byte, error) { panic(io.ErrClosedPipe) }

type valuer struct{}

func (valuer) LogValue() slog.Value { return slog.GroupValue(slog.Any("e", io.EOF)) }

type valueBomb struct{}

func (valueBomb) LogValue() slog.Value { panic("bomb") }

type endless struct{}

func (e endless) LogValue() slog.Value { return slog.AnyValue(e) }

type bomb struct{}

func (bomb) MarshalJSON() ([]byte, error) { panic("bomb") }

// Loggers whose reader goes away, and values that panic, leave nothing behind.
func TestReadersLeaveMidway(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	var wg sync.WaitGroup
	for range 4 {
		reader, writer := net.Pipe()
		logger := slog.New(dewslog.New(writer, pool, nil))
		wg.Go(func() {
			io.CopyN(io.Discard, reader, 50_000)
			reader.Close()
		})
		for i := range 4 {
			wg.Go(func() {
				for range 50 {
					logger.Info("message", "i", i, "body", strings.Repeat("x", 1000*i))
				}
				logger.Info("message", "v", bomb{})
			})
		}
	}
	wg.Wait()
}
