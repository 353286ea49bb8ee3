package check

import (
	"container/list"
	"time"

	"github.com/dewpond/dewpond/misuse"
)

// An Owner is one owner of a leased block that is watched: what made it and, once it has
// released, what did that. The lock of the block's shard guards it.
type Owner struct {
	at             uintptr
	size           int
	made, released Stack
	releasedAt     time.Time
	place          *list.Element // in the record's owners, if it is there
}

// Retained records that the leased block at an address has another owner. It returns nil if
// the block is not watched.
func (c *Checker) Retained(at uintptr) *Owner {
	var room pcs
	stack := c.callers(&room)
	s := c.shard(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.at[at]
	if r == nil || r.state != out {
		return nil
	}
	o := &Owner{at: at, size: r.size, made: stack.clone()}
	if r.owners == nil {
		r.owners = list.New()
	}
	o.place = r.owners.PushBack(o)
	return o
}

// Released records that an owner releases which Retained or ReleasedFirst has returned. If it
// has done so before, the first time counts.
func (c *Checker) Released(o *Owner) {
	var room pcs
	stack := c.callers(&room)
	s := c.shard(o.at)
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.released != nil {
		return
	}
	o.released, o.releasedAt = stack.clone(), time.Now()
	if r := s.at[o.at]; r != nil && r.owners != nil && o.place != nil {
		r.owners.Remove(o.place) // has no effect if it is in the list of an earlier use
	}
}

// ReleasedFirst records that the owner of a leased block releases which has it from a Get. It
// returns that owner.
func (c *Checker) ReleasedFirst(at uintptr) *Owner {
	var room pcs
	stack := c.callers(&room)
	o := &Owner{at: at, released: stack.clone(), releasedAt: time.Now()}
	s := c.shard(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.at[at]; r != nil && r.state == out {
		r.released = true
		o.size, o.made = r.size, r.got.clone()
	}
	return o
}

// ReleasedAgain reports that an owner releases a second time. o is nil if nothing is known
// of it. size is that of the block, if the owner does not know it.
func (c *Checker) ReleasedAgain(o *Owner, size int) {
	v := misuse.Violation{Kind: misuse.DoubleRelease, Offence: exactly()}
	if o != nil {
		s := c.shard(o.at)
		s.mu.Lock()
		v.Got, v.Put, v.Age = o.made, o.released, time.Since(o.releasedAt)
		size = max(size, o.size)
		s.mu.Unlock()
	}
	v.Count, v.Size, v.Bytes = 1, size, size
	c.report(v)
}

// ownersLeft returns what made each owner of a leased block that has not released, if there
// ever were several. The shard is locked.
func (r *record) ownersLeft() (stacks [][]uintptr) {
	if r.owners == nil || r.owners.Len() == 0 {
		return nil
	}
	if !r.released {
		stacks = append(stacks, r.got.clone())
	}
	for place := r.owners.Front(); place != nil; place = place.Next() {
		stacks = append(stacks, place.Value.(*Owner).made)
	}
	return stacks
}
