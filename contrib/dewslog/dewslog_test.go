package dewslog_test

import (
	"bytes"
	"encoding/json"
	"errors"
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
				defer func() { recover() }()
				logger.Info("message", "v", bomb{})
			})
		}
	}
	wg.Wait()
}
