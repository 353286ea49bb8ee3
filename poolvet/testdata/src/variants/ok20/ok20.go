// Package ok20 tracks the sessions of a chat server.
package ok20

import (
	"sync"
	"time"
)

type session struct {
	user  string
	since time.Time
}

// Hub knows all open sessions.
type Hub struct {
	mu   sync.Mutex
	open map[string]*session
	free sync.Pool
}

// NewHub makes a hub.
func NewHub() *Hub {
	h := &Hub{open: make(map[string]*session)}
	h.free.New = func() any { return new(session) }
	return h
}

// Join opens a session unless there is one.
func (h *Hub) Join(id, user string) bool {
	s := h.free.Get().(*session)
	*s = session{user: user, since: time.Now()}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, dup := h.open[id]; dup {
		h.free.Put(s)
		return false
	}
	h.open[id] = s
	return true
}

// Leave closes the session and tells how long it was and who had it.
func (h *Hub) Leave(id string) (user string, d time.Duration) {
	h.mu.Lock()
	s, ok := h.open[id]
	delete(h.open, id)
	h.mu.Unlock()
	if !ok {
		return "", 0
	}
	user, d = s.user, time.Since(s.since)
	h.free.Put(s)
	return user, d
}
