package dewslog_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewslog"
	"github.com/dewpond/dewpond/internal/turns"
)

// BenchmarkHandler is a record with five attributes and a body of some size, with
// slog.JSONHandler in turn.
func BenchmarkHandler(b *testing.B) {
	for _, size := range []int{100, 4 << 10, 64 << 10} {
		b.Run(fmt.Sprint("size=", size), func(b *testing.B) {
			r := slog.NewRecord(time.Now(), slog.LevelInfo, "an order was filled", 0)
			r.AddAttrs(slog.Int("id", 7), slog.String("symbol", "BTC-USD"), slog.Float64("price", 64123.5),
				slog.Duration("took", time.Millisecond), slog.String("body", strings.Repeat("x", size)))
			turn := func(h slog.Handler) func() {
				return func() {
					if err := h.Handle(context.Background(), r); err != nil {
						b.Fatal(err)
					}
				}
			}
			pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()})
			turns.Take(b, 10_000_000/(size+5000), turn(dewslog.New(io.Discard, pool, nil)), turn(slog.NewJSONHandler(io.Discard, nil)))
		})
	}
}
