package load_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/dewpond/dewpond/instruments/load"
)

// serve serves each connection by a function, until the test ends.
func serve(t *testing.T, one func(number int, c net.Conn)) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	t.Cleanup(func() { l.Close() })
	serving.Go(func() {
		for i := 0; ; i++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				one(i, c)
			})
		}
	})
	return "http://" + l.Addr().String()
}

// TestGoingAway has a target that answers so many requests on each connection, as nginx does, and
// leaves those that come meanwhile alone. They are sent again, and are no errors.
func TestGoingAway(t *testing.T) {
	const each, answered = 10, 100 // so that some are sent ten times
	var mu sync.Mutex
	bodies := map[string]int{}
	url := serve(t, func(_ int, c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := http2.NewFramer(c, c)
		f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		f.WriteSettings()
		var head bytes.Buffer
		hpack.NewEncoder(&head).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
		done, left, gone := 0, uint32(0), false
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			switch frame := frame.(type) {
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					f.WriteSettingsAck()
				}
			case *http2.DataFrame:
				if !frame.StreamEnded() {
					continue
				}
				// A stream below one that was answered has begun before it, and is answered, too.
				if done++; done <= each || frame.StreamID < left {
					mu.Lock()
					bodies[string(frame.Data())]++
					mu.Unlock()
					left = max(left, frame.StreamID)
					f.WriteHeaders(http2.HeadersFrameParam{StreamID: frame.StreamID, BlockFragment: head.Bytes(), EndHeaders: true, EndStream: true})
				} else if !gone { // this one and those after it
					gone = true
					f.WriteGoAway(left, http2.ErrCodeNo, nil)
				}
			}
		}
	})
	s := one(url, load.Request{Method: "POST", URL: "/", Body: []byte("body")})
	s.Arrivals = load.Arrivals{Rate: 1, Duration: 2 * time.Second}
	numbers := make([]any, answered)
	s.Data = []load.Data{load.OneOf("numbers", any(numbers))}
	s.Session[0].Each = &load.Each{Item: "n", List: "numbers", Parallel: true}
	s.Protocols, s.Connections = []load.Share{{Protocol: load.H2C, Weight: 1}}, 1
	r := run(t, s, load.Options{})
	p := r.Protocols[0]
	if r.Failed != 0 || r.Finished != 2 || p.Failed != 0 || p.Requests != 2*answered {
		t.Errorf("%d sessions finished with %d requests, errors %v %v", r.Finished, p.Requests, r.Errors, r.Messages)
	}
	if p.Resent == 0 || bodies["body"] != 2*answered || len(bodies) != 1 {
		t.Errorf("%d were sent again, the target answered %v", p.Resent, bodies)
	}
}

// TestClosedIdle has a target that closes a connection after its second answer without a word, as
// a server that is reloaded does. net/http sends again what it had not answered.
func TestClosedIdle(t *testing.T) {
	for _, c := range []struct {
		method string
		late   bool // it closes when the third request is there, and not before
		failed bool
	}{{"GET", false, false}, {"POST", false, false}, {"GET", true, false}, {"POST", true, true}} {
		closed := make(chan struct{})
		url := serve(t, func(number int, conn net.Conn) {
			in := bufio.NewReader(conn)
			for i := 0; ; i++ {
				if number == 0 && i == 2 && !c.late {
					conn.Close()
					close(closed)
					return
				}
				q, err := http.ReadRequest(in)
				if err != nil || number == 0 && i == 2 {
					return
				}
				io.Copy(io.Discard, q.Body)
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			}
		})
		q := load.Request{Method: c.method, URL: "/"}
		if c.method == "POST" {
			q.Body = []byte("body")
		}
		s := one(url, q)
		// One request after the other, and the third when the connection is closed.
		s.Session[0].Name = "first"
		s.Session = append(s.Session, load.Step{Name: "second", Do: q})
		if !c.late {
			s.Session = append(s.Session, load.Step{Name: "wait", Do: load.ActionFunc(func(ctx context.Context, _ *load.Call) error {
				<-closed
				return nil
			})})
		}
		s.Session = append(s.Session, load.Step{Name: "third", Do: q})
		s.Arrivals, s.Connections = load.Arrivals{Rate: 1, Duration: time.Second}, 1
		r := run(t, s, load.Options{})
		p := r.Protocols[0]
		if c.failed != (r.Failed == 1) || r.Failed != p.Failed {
			t.Errorf("%s, late %v: %d failed: %v", c.method, c.late, r.Failed, r.Messages)
		}
		if !c.failed && p.Resent+p.ClosedIdle != 1 {
			t.Errorf("%s, late %v: sent again %d, closed while idle %d", c.method, c.late, p.Resent, p.ClosedIdle)
		}
	}
}
