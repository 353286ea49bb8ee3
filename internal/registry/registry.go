// Package registry finds what is alive by name, without keeping it alive.
package registry

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Registry gives each S a name of its own and finds all that are alive. The zero Registry is
// empty. Its methods are safe for concurrent use.
type Registry[S any] struct {
	mu       sync.Mutex
	entries  map[string]registered[S]
	families map[string]*family // the numbered entries, by the name that was asked for
	looks    int                // how often newEntryLocked has looked whether a name is taken; for tests
}

// A registered is an entry and the function that finds what it stands for.
type registered[S any] struct {
	*Entry
	live func() (S, bool)
}

// A family is the entries that asked for one name and got it with a number.
type family struct {
	next int // a number that is probably free
	live int // how many entries have a number
}

// An Entry is one registration. It tells one registration of a name from a later one.
type Entry struct {
	name      string
	base      string // the name of its family, if it has a number
	number    int
	published bool
	removed   bool
}

// Name returns the name of the entry: the name it asked for, perhaps with a number.
func (e *Entry) Name() string { return e.name }

// Reserve makes an entry with a name that no living entry has: the given name, if necessary
// with a number. What is not UTF-8 in the given name, which many exporters refuse, is written as
// \xff. Live finds the entry after Publish. live returns false once what the entry stands for is
// gone; it is called under a lock.
func (r *Registry[S]) Reserve(name string, live func() (S, bool)) *Entry {
	name = escaped(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries == nil {
		r.entries = make(map[string]registered[S])
		r.families = make(map[string]*family)
	}
	e := r.newEntryLocked(name)
	r.entries[e.name] = registered[S]{e, live}
	return e
}

// escaped returns name with each byte that is not UTF-8 written as \x and two digits.
func escaped(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		if r == utf8.RuneError && !strings.HasPrefix(name[i:], "\uFFFD") {
			fmt.Fprintf(&b, `\x%02x`, name[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Publish makes Live find the entry, unless it has been removed.
func (r *Registry[S]) Publish(e *Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.published = true
}

// Live returns all that are published and alive, in no particular order.
func (r *Registry[S]) Live() []S { return r.AppendLive(nil) }

// AppendLive appends to all what Live returns.
func (r *Registry[S]) AppendLive(all []S) []S {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		if s, ok := e.live(); ok && e.published {
			all = append(all, s)
		}
	}
	return all
}

// newEntryLocked makes an entry with a name that no living entry has: the given name, or that
// with a number from 2 on. Numbers that were given up are used again, not necessarily the
// lowest first.
//
// Each number that is taken, by an entry of the family or by one that asked for that very
// name, doubles the next step. So there are few looks where the numbers in use lie close
// together, and at most about thirty where they were chosen to be in the way.
func (r *Registry[S]) newEntryLocked(name string) *Entry {
	if !r.takenLocked(name) {
		return &Entry{name: name}
	}
	f := r.families[name]
	if f == nil {
		f = &family{next: 2}
		r.families[name] = f
	}
	number := f.next
	numbered := numberedName(name, number)
	for step := 1; r.takenLocked(numbered); step *= 2 {
		if number += step; number > maxNumber {
			number, step = 2+rand.IntN(maxNumber), 1
		}
		numbered = numberedName(name, number)
	}
	f.next = number + 1
	f.live++
	return &Entry{name: numbered, base: name, number: number}
}

// maxNumber is about the largest number of a name. Twice that fits in an int everywhere.
const maxNumber = 1 << 29

func numberedName(name string, number int) string { return fmt.Sprintf("%s-%d", name, number) }

func (r *Registry[S]) takenLocked(name string) bool {
	r.looks++
	e, ok := r.entries[name]
	if !ok {
		return false
	}
	_, alive := e.live()
	return alive
}

// Remove removes an entry and frees its name. Further calls do nothing.
func (r *Registry[S]) Remove(e *Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.removed {
		return
	}
	e.removed = true
	if r.entries[e.name].Entry == e { // otherwise the name of a dead entry has been given again
		delete(r.entries, e.name)
	}
	if e.number == 0 {
		return
	}
	f := r.families[e.base]
	f.next = min(f.next, e.number)
	if f.live--; f.live == 0 {
		delete(r.families, e.base)
	}
}
