package load

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

var dewpondLoads = map[string]dewpondLoad{
	"waves of 25 sessions":  dewpondWaves(25),
	"waves of 100 sessions": dewpondWaves(100),
}

var dewpondGarbage []byte

// dewpondWaves has so many sessions at a time, each with a flate.Writer of its own at either end. In each session a message goes
// to the server and back. After each wave it makes 300 MB of garbage, for two GC cycles or more.
func dewpondWaves(sessions int) dewpondLoad {
	return func(t *testing.T, waves int) []time.Duration {
		return dewpondSessions(t, waves, sessions)
	}
}

func dewpondSessions(t *testing.T, waves, sessions int) []time.Duration {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionContextTakeover})
		if err != nil {
			t.Error(err)
			return
		}
		defer c.CloseNow()
		kind, text, err := c.Read(r.Context())
		if err == nil {
			err = c.Write(r.Context(), kind, text)
		}
		if err != nil {
			t.Error(err)
		}
		c.Read(r.Context()) // until the client closes
	}))
	defer s.Close()
	ctx := context.Background()
	message := []byte(strings.Repeat("a message of a session; ", 100))
	took := make([]time.Duration, waves*sessions) // from when the wave began until the answer is there
	for wave := range waves {
		began := time.Now()
		var open, done sync.WaitGroup
		open.Add(sessions)
		done.Add(sessions)
		for session := range sessions {
			go func() {
				defer done.Done()
				c, _, err := websocket.Dial(ctx, s.URL, &websocket.DialOptions{HTTPClient: s.Client(), CompressionMode: websocket.CompressionContextTakeover})
				if err == nil {
					defer c.CloseNow()
					if err = c.Write(ctx, websocket.MessageText, message); err == nil {
						_, _, err = c.Read(ctx)
					}
				}
				if err != nil {
					t.Error(err)
				}
				took[wave*sessions+session] = time.Since(began)
				open.Done()
				open.Wait()
			}()
		}
		done.Wait()
		for range 300 {
			dewpondGarbage = make([]byte, 1_000_000)
		}
	}
	return took
}
