// Package bad06 is an in-memory session store.
package bad06

import (
	"bytes"
	"encoding/gob"
	"sync"
	"time"
)

type entry struct {
	val    []byte
	expiry time.Time
}

// Store keeps encoded sessions.
type Store struct {
	mu   sync.RWMutex
	data map[string]entry
	bufs sync.Pool
}

// New returns an empty store.
func New() *Store {
	s := &Store{data: make(map[string]entry)}
	s.bufs.New = func() any { return new(bytes.Buffer) }
	return s
}

// Set encodes the session and keeps it for ttl.
func (s *Store) Set(id string, session map[string]string, ttl time.Duration) error {
	buf := s.bufs.Get().(*bytes.Buffer)
	defer s.bufs.Put(buf)
	buf.Reset()
	if err := gob.NewEncoder(buf).Encode(session); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[id] = entry{val: buf.Bytes(), expiry: time.Now().Add(ttl)} // want `\(returnput\)`
	return nil
}

// Get decodes the session with that id.
func (s *Store) Get(id string) (map[string]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, ok := s.data[id]
	if !ok || time.Now().After(e.expiry) {
		return nil, nil
	}
	var out map[string]string
	err := gob.NewDecoder(bytes.NewReader(e.val)).Decode(&out)
	return out, err
}
