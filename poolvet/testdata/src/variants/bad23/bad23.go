// Package bad23 relays calls and expires the slow ones.
package bad23

import (
	"log"
	"sync"
	"time"
)

type item struct {
	id      uint32
	peer    string
	replied bool
}

var items = sync.Pool{New: func() any { return new(item) }}

// Relay forwards calls.
type Relay struct {
	ttl     time.Duration
	forward func(peer string, id uint32, frame []byte) error
	onLost  func(peer string, id uint32)
}

func (r *Relay) expire(it *item) {
	if !it.replied {
		log.Printf("call %d to %s expired", it.id, it.peer)
		r.onLost(it.peer, it.id)
	}
}

// Call forwards one frame and waits for the answer.
func (r *Relay) Call(peer string, id uint32, frame []byte) error {
	it := items.Get().(*item)
	it.id, it.peer, it.replied = id, peer, false
	time.AfterFunc(r.ttl, func() { r.expire(it) })

	err := r.forward(peer, id, frame)
	if err == nil {
		it.replied = true
	}
	items.Put(it) // want `\(useafterput\)`
	return err
}
