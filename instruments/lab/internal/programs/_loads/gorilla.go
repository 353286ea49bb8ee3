package load

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

var dewpondLoads = map[string]dewpondLoad{
	"hub, 100 compressed answers every 100 ms": dewpondHub,
}

// dewpondHub asks over 100 connections at once every 100 ms. Each answer is compressed, with a flate.Writer that the server
// has for it until its second part is there, 5 ms later. A connection whose answer is late has its next question later.
func dewpondHub(t *testing.T, bursts int) []time.Duration {
	const connections = 100
	upgrader := Upgrader{EnableCompression: true}
	answer := []byte(strings.Repeat("an answer of a hub; ", 100))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		for {
			if _, _, err := c.ReadMessage(); err != nil {
				return // the client has closed
			}
			w, err := c.NextWriter(TextMessage)
			if err == nil {
				w.Write(answer)
				time.Sleep(5 * time.Millisecond)
				w.Write(answer)
				err = w.Close()
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	}))
	defer s.Close()
	var open dewpondOpen
	var asked [connections]chan time.Time
	dialer := Dialer{EnableCompression: true}
	for i := range asked {
		c, _, err := dialer.Dial(strings.Replace(s.URL, "http", "ws", 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		asked[i] = make(chan time.Time, bursts)
		defer close(asked[i])
		go func() {
			for due := range asked[i] {
				err := c.WriteMessage(TextMessage, []byte("a question"))
				if err == nil {
					_, _, err = c.ReadMessage()
				}
				if err != nil {
					t.Error(err)
				}
				open.done(due)
			}
		}()
	}
	return open.run(bursts*connections, 100*time.Millisecond/connections, func(i int, due time.Time) {
		if i%connections == connections-1 {
			for _, c := range asked {
				c <- due
			}
		}
	})
}
