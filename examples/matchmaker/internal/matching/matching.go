// Package matching picks whom to propose to a user. It is pure: it asks nobody, and all that it
// needs for one match is in a [Context], which is made to be pooled.
package matching

import "math/bits"

// Most is how many candidates a match begins with, and Best how many it answers with.
const (
	Most = 16
	Best = 10
)

// A Candidate is a user who may be proposed.
type Candidate struct {
	UID       int64
	Name      string
	Age       int32
	Interests int64 // a bit for each
	Score     float64
}

// A Person is what the scorer knows of a user.
type Person struct {
	Age       int32 `json:"age"`
	Interests int64 `json:"interests"`
}

// The names of a Context's filters.
const (
	MinAge = "min_age"
	MaxAge = "max_age"
	Not    = "not" // a uid
)

// A Context is what one match needs. The zero Context works; one that comes from a pool has room
// already, and allocates nothing.
type Context struct {
	Candidates []Candidate
	Filters    map[string]int64
}

// New returns a Context with room for [Most] candidates.
func New() *Context {
	return &Context{Candidates: make([]Candidate, 0, Most), Filters: make(map[string]int64, 4)}
}

// Reset forgets the user and keeps the room. It clears the candidates to the end of their room,
// so that no name of an earlier user stays reachable.
func (c *Context) Reset() {
	clear(c.Candidates[:cap(c.Candidates)])
	c.Candidates = c.Candidates[:0]
	clear(c.Filters)
}

// Filter sets a filter. A filter that is not set lets everybody through.
func (c *Context) Filter(name string, value int64) {
	if c.Filters == nil {
		c.Filters = make(map[string]int64, 4)
	}
	c.Filters[name] = value
}

// Pick drops the candidates that a filter refuses, sorts the others by score and leaves the best
// n. It keeps the order of equal ones, and allocates nothing.
func (c *Context) Pick(n int) []Candidate {
	kept := c.Candidates[:0]
	for _, candidate := range c.Candidates {
		if c.admits(candidate) {
			kept = append(kept, candidate)
		}
	}
	// Sixteen at most: insertion is the shortest way, and it is stable.
	for i := 1; i < len(kept); i++ {
		for j := i; j > 0 && kept[j].Score > kept[j-1].Score; j-- {
			kept[j], kept[j-1] = kept[j-1], kept[j]
		}
	}
	c.Candidates = kept[:min(n, len(kept))]
	return c.Candidates
}

func (c *Context) admits(x Candidate) bool {
	if limit, ok := c.Filters[MinAge]; ok && int64(x.Age) < limit {
		return false
	}
	if limit, ok := c.Filters[MaxAge]; ok && int64(x.Age) > limit {
		return false
	}
	uid, ok := c.Filters[Not]
	return !ok || x.UID != uid
}

// Score is how well two users fit, from 0 to 1: what they share of what either likes, and how
// near they are in age.
func Score(interests, other int64, age, otherAge int32) float64 {
	shared := bits.OnesCount64(uint64(interests & other))
	either := max(1, bits.OnesCount64(uint64(interests|other)))
	apart := float64(age - otherAge)
	return 0.7*float64(shared)/float64(either) + 0.3/(1+apart*apart/50)
}
