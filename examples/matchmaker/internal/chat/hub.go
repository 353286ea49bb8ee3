// Package chat has the WebSockets, one for each user. A message is stored, acknowledged, and
// delivered where its recipient is connected.
package chat

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/dewpond/dewpond"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/sessionlog"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

const (
	mostFrame  = 4 << 10 // bytes of a message; above: 1009
	mostQueued = 64      // frames that wait for a slow reader; above they are dropped
	// Replaced is the code that a user's socket is closed with where the user opens another.
	Replaced = websocket.StatusCode(4001)
)

// Messages is what the hub asks of a store.
type Messages interface {
	PutMessage(ctx context.Context, m store.Message) (id int64, err error)
}

// A Hub is all sockets. Its methods may be called by several goroutines at once.
type Hub struct {
	Messages Messages
	Pool     *dewpond.BytePool // for frames
	Log      *sessionlog.Log   // nil: none
	Within   time.Duration     // a message must be there whole, once it begins; 0: 2 s

	mu      sync.Mutex // held for a change of sockets
	sockets map[int64]*socket
	closed  bool
	serving sync.WaitGroup

	stored, delivered, dropped, refused atomic.Uint64
}

// Counts are what a hub has done.
type Counts struct {
	Stored, Delivered uint64
	Dropped           uint64 // deliveries to a reader that was too slow
	Refused           uint64 // frames that were answered with an error
	Sockets           int    // now
}

// Counts returns the hub's counts.
func (h *Hub) Counts() Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Counts{h.stored.Load(), h.delivered.Load(), h.dropped.Load(), h.refused.Load(), len(h.sockets)}
}

// Serve makes a user's request a socket, and serves it until it closes.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, uid int64) {
	s := &socket{hub: h, uid: uid, wake: make(chan struct{}, 1)}
	c, err := websocket.Accept(w, r, s.accepting())
	if err != nil {
		return // it has answered
	}
	c.SetReadLimit(mostFrame)
	s.conn = c
	if !h.add(s) {
		c.Close(websocket.StatusGoingAway, "the service stops")
		return
	}
	defer h.serving.Done()
	var writing sync.WaitGroup
	writing.Go(s.write)
	s.read(r.Context())
	h.remove(s)
	s.end()
	writing.Wait()
	c.CloseNow()
}

// add makes s the user's socket. The one before is closed when it has acknowledged what it has
// read.
func (h *Hub) add(s *socket) bool {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return false
	}
	if h.sockets == nil {
		h.sockets = map[int64]*socket{}
	}
	before := h.sockets[s.uid]
	h.sockets[s.uid] = s
	h.serving.Add(1)
	h.mu.Unlock()
	if before != nil {
		before.goodbye(Replaced, "another socket of this user has opened")
	}
	return true
}

func (h *Hub) remove(s *socket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sockets[s.uid] == s {
		delete(h.sockets, s.uid)
	}
}

func (h *Hub) of(uid int64) *socket {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sockets[uid]
}

// Close closes every socket with 1001 and waits for them.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	var all []*socket
	for _, s := range h.sockets {
		all = append(all, s)
	}
	h.mu.Unlock()
	for _, s := range all {
		s.goodbye(websocket.StatusGoingAway, "the service stops")
	}
	h.serving.Wait()
}
