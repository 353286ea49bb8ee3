package service

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// told is when a failure was logged last, in Unix seconds: one in a second says enough of an outage.
var told atomic.Int64

// Tell logs why a request failed. That is for who runs the service: it names hosts, databases and
// users, which are nobody else's business.
func Tell(asked string, err error) {
	if now := time.Now().Unix(); told.Swap(now) != now {
		slog.Warn("a request failed", "asked", asked, "error", err)
	}
}
