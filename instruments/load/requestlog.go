package load

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/logline"
)

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
	line := logline.Line{
		Time: c.intended, Session: c.Number, Step: step,
		Protocol: string(c.protocol), Method: c.method, Path: c.path, Status: c.status, Sent: c.sent, Received: c.received,
		FirstByte: logline.Milliseconds(c.firstByte), Duration: logline.Milliseconds(t.service),
		Response: logline.Milliseconds(t.response), Lag: logline.Milliseconds(t.lag), Waiting: logline.Milliseconds(t.waiting),
	}
	if err != nil {
		line.Error = string(KindOf(err))
	}
	if c.url != nil {
		line.Path = c.url.RequestURI()
	}
	line.Keep(c.body)
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
