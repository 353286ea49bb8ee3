// Package logline is the session log: one line of JSON for each request, which dewload and a service
// write, and dewload learn reads. instruments/load/README.md describes it.
package logline

import (
	"encoding/hex"
	"time"
	"unicode/utf8"
)

// A Line is one request. Sizes are bytes of the bodies, times are milliseconds.
type Line struct {
	Time      time.Time `json:"time"`    // when it began; of dewload, when it was due
	Session   any       `json:"session"` // a text or a number
	Step      string    `json:"step,omitempty"`
	Protocol  string    `json:"protocol,omitempty"`
	Method    string    `json:"method,omitempty"`
	Path      string    `json:"path,omitempty"` // with its query
	Status    int       `json:"status,omitempty"`
	Sent      int64     `json:"sent"`
	Received  int64     `json:"received"`
	FirstByte float64   `json:"first_byte_ms"`
	Duration  float64   `json:"duration_ms"`          // of the service
	Response  float64   `json:"response_ms,omitzero"` // from Time to the end; as Lag and Waiting, of dewload alone
	Lag       float64   `json:"lag_ms,omitzero"`
	Waiting   float64   `json:"waiting_ms,omitzero"`
	Error     string    `json:"error,omitempty"`
	Body      string    `json:"body,omitempty"`     // what was sent, if it is text
	Hex       string    `json:"body_hex,omitempty"` // the same in hexadecimal digits, if it is none
}

// longestBody is how many bytes of what was sent a line may have; of more it has none.
const longestBody = 1 << 10

// Keep keeps what was sent, if it is not too long.
func (l *Line) Keep(body []byte) {
	switch {
	case len(body) > longestBody:
	case utf8.Valid(body):
		l.Body = string(body)
	default:
		l.Hex = hex.EncodeToString(body)
	}
}

// Milliseconds are the unit of a line's times.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
