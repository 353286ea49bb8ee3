// Package sessionlog learns a scenario from a log of sessions: one line of JSON for each request,
// as dewload writes it with --requests.
package sessionlog

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/logline"
)

// A Request is a line of the log.
type Request struct {
	Session  string
	Step     string // empty if the log does not name steps
	Protocol string
	Method   string
	Path     string // with its query
	Status   int
	Sent     int64
	Received int64
	At, End  time.Time
	First    time.Duration // to the first byte
	Body     string        // what was sent, if the log has it
	Hex      string        // the same in hexadecimal digits, where it is no text
	Failed   bool
}

// A Log is sessions, and the lines that could not be read.
type Log struct {
	// Sessions are in the order in which they began; their requests are too.
	Sessions [][]*Request
	Lines    int
	Bad      int
	Named    []string // the first of the bad lines, and what is wrong with each

	byID map[string]int
}

// namedBad is how many unreadable lines are named, and longestLine is the most bytes of a line.
const (
	namedBad    = 5
	longestLine = 1 << 20
)

// Add reads a file of the log. Files may be added in any order. It returns an error if the file
// itself cannot be read.
func (l *Log) Add(name string, from io.Reader) error {
	if l.byID == nil {
		l.byID = map[string]int{}
	}
	in := bufio.NewReaderSize(from, longestLine)
	for number := 1; ; number++ {
		text, err := in.ReadSlice('\n')
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(strings.TrimSpace(string(text))) > 0 {
			l.Lines++
			problem := fmt.Errorf("it has more than %d bytes", longestLine)
			if !tooLong {
				problem = l.add(text)
			}
			if problem != nil {
				l.Bad++
				if len(l.Named) < namedBad {
					l.Named = append(l.Named, fmt.Sprintf("%s:%d: %v", name, number, problem))
				}
			}
		}
		if err != nil {
			return nil
		}
	}
}

func (l *Log) add(text []byte) error {
	var in logline.Line
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	session := ""
	switch v := in.Session.(type) {
	case string:
		session = v
	case float64:
		session = fmt.Sprintf("%.0f", v)
	}
	switch {
	case in.Time.IsZero():
		return errors.New("it has no time")
	case session == "":
		return errors.New("it has no session")
	case in.Path == "" && in.Step == "":
		return errors.New("it has neither path nor step")
	case in.Duration < 0 || in.Response < 0:
		return errors.New("it took less than nothing")
	}
	r := &Request{
		Session: session, Step: in.Step, Protocol: protocolOf(in.Protocol), Method: strings.ToUpper(in.Method), Path: in.Path,
		Status: in.Status, Sent: in.Sent, Received: in.Received, At: in.Time, End: in.Time.Add(milliseconds(max(in.Response, in.Duration))),
		First: milliseconds(in.FirstByte), Body: in.Body, Hex: in.Hex, Failed: in.Error != "",
	}
	i, known := l.byID[session]
	if !known {
		i = len(l.Sessions)
		l.byID[session] = i
		l.Sessions = append(l.Sessions, nil)
	}
	l.Sessions[i] = append(l.Sessions[i], r)
	return nil
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms*1e6 + 0.5) }

// protocolOf gives protocols the names that scenarios have.
func protocolOf(s string) string {
	switch strings.ToLower(s) {
	case "", "http/1.0", "http/1.1", "http":
		return http1
	case "http/2.0", "http/2", "h2c":
		return h2c
	}
	return strings.ToLower(s)
}

const (
	http1     = "http/1.1"
	h2c       = "h2c"
	h2        = "h2"
	webSocket = "websocket"
	grpc      = "grpc"
)

// order sorts requests and sessions by their beginning.
func (l *Log) order() {
	for _, s := range l.Sessions {
		slices.SortStableFunc(s, func(a, b *Request) int { return a.At.Compare(b.At) })
	}
	slices.SortStableFunc(l.Sessions, func(a, b []*Request) int {
		return cmp.Or(a[0].At.Compare(b[0].At), cmp.Compare(a[0].Session, b[0].Session))
	})
	l.byID = nil // its places do not hold any more
}
