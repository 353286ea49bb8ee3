package dewslog_test

import (
	"log/slog"
	"os"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewslog"
)

func Example() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "log"})
	logger := slog.New(dewslog.New(os.Stdout, pool, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{} // the example's output must not change
			}
			return a
		},
	}))
	logger.With("service", "orders").WithGroup("order").Info("filled", "id", 7, "price", 64123.5)
	// Output:
	// {"level":"INFO","msg":"filled","service":"orders","order":{"id":7,"price":64123.5}}
}
