package load

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// A requestLine is what is logged of one request, in the form of a service's session log.
type requestLine struct {
	Time      string  `json:"time"` // when it was due, RFC 3339 with nanoseconds
	Session   int     `json:"session"`
	Step      string  `json:"step"`
	Protocol  string  `json:"protocol,omitempty"`
	Method    string  `json:"method,omitempty"`
	Path      string  `json:"path,omitempty"` // with its query
	Status    int     `json:"status,omitempty"`
	Sent      int64   `json:"sent"`     // bytes of the body
	Received  int64   `json:"received"` // bytes of the body
	FirstByte float64 `json:"first_byte_ms"`
	Duration  float64 `json:"duration_ms"` // service
	Response  float64 `json:"response_ms"`
	Lag       float64 `json:"lag_ms"`
	Waiting   float64 `json:"waiting_ms"`
	Error     Kind    `json:"error,omitempty"`
	Body      string  `json:"body,omitempty"`     // what was sent, up to longestBody
	Hex       string  `json:"body_hex,omitempty"` // the same, if it is no text
}

// longestBody is how many bytes of what was sent a line may have; of more it has none.
const longestBody = 1 << 10

// A requestLog writes lines from many goroutines. A nil log writes nothing.
type requestLog struct {
	mu  sync.Mutex
	out *bufio.Writer
	enc *json.Encoder
}

func newRequestLog(w io.Writer) *requestLog {
	l := &requestLog{out: bufio.NewWriterSize(w, 64<<10)}
	l.enc = json.NewEncoder(l.out)
	return l
}

func (l *requestLog) write(c *Call, step string, end time.Time, t timing, err error) {
	if l == nil {
		return
	}
	line := requestLine{
		Time: c.intended.Format(time.RFC3339Nano), Session: c.Number, Step: step,
		Protocol: string(c.protocol), Method: c.method, Path: c.path, Status: c.status, Sent: c.sent, Received: c.received,
		FirstByte: ms(c.firstByte), Duration: ms(t.service), Response: ms(t.response), Lag: ms(t.lag), Waiting: ms(t.waiting),
	}
	if err != nil {
		line.Error = KindOf(err)
	}
	if c.url != nil {
		line.Path = c.url.RequestURI()
	}
	switch {
	case len(c.body) > longestBody:
	case utf8.Valid(c.body):
		line.Body = string(c.body)
	default:
		line.Hex = hex.EncodeToString(c.body)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.enc.Encode(line)
}

func (l *requestLog) flush() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.Flush()
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
