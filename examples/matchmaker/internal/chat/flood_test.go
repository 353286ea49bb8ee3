package chat

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/dewpond/dewpond"
)

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		begun := time.Now()
		for range atOnce + 3*perSecond {
			if err := turns.wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(begun); d != 3*time.Second {
			t.Errorf("%d turns take %v, want 3s", atOnce+3*perSecond, d)
		}
		time.Sleep(time.Hour) // and no more than atOnce are saved up
		begun = time.Now()
		for range atOnce + perSecond {
			turns.wait(t.Context())
		}
		if d := time.Since(begun); d != time.Second {
			t.Errorf("later they take %v, want 1s", d)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if turns.wait(over) == nil {
			t.Error("it waits for a turn that nobody wants")
		}
	})
}

// connect connects a client to a hub that stores nothing.
func connect(t *testing.T, h *Hub) *websocket.Conn {
	t.Helper()
	h.Pool = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.Serve(w, r, 7) }))
	c, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.CloseNow()
		h.Close()
		server.Close()
		h.Pool.Close()
	})
	return c
}

// A flood of frames is handled at the rate that there is for one socket, and no faster.
func TestFloodIsSlowedDown(t *testing.T) {
	const frames = 150
	h := new(Hub)
	begun := time.Now()
	c := connect(t, h)
	for range frames {
		if err := c.Write(t.Context(), websocket.MessageText, []byte("no message")); err != nil {
			t.Fatal(err)
		}
	}
	for {
		refused := h.Counts().Refused // before the clock is read
		if most := atOnce + perSecond*time.Since(begun).Seconds(); float64(refused) > most+1 {
			t.Fatalf("%d frames are handled where %.0f are due", refused, most)
		}
		if refused == frames {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// So are pings, which are answered before the next message is read.
func TestPingFloodIsSlowedDown(t *testing.T) {
	const pings = 150
	h := new(Hub)
	begun := time.Now()
	c := connect(t, h)
	c.CloseRead(t.Context()) // takes the pongs
	for range pings {
		if err := c.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if least := time.Second * (pings - atOnce) / perSecond; time.Since(begun) < least {
		t.Errorf("%d pings are answered in %v, want %v or more", pings, time.Since(begun), least)
	}
}

// A message that begins must come, or the socket ends.
func TestHalfAMessageEnds(t *testing.T) {
	h := &Hub{Within: time.Millisecond}
	c := connect(t, h)
	w, err := c.Writer(t.Context(), websocket.MessageBinary)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(strings.Repeat("x", mostFrame))); err != nil { // which fills its buffer, and no end
		t.Fatal(err)
	}
	if _, _, err := c.Read(t.Context()); err == nil {
		t.Error("the socket waits for the rest")
	}
}
