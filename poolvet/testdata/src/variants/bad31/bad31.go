// Package bad31 guards resources with rules.
package bad31

import (
	"errors"
	"sync"
	"sync/atomic"
)

type verdict struct {
	blocked bool
	waitMs  int64
}

var verdicts = sync.Pool{New: func() any { return new(verdict) }}

func recycle(v *verdict) {
	*v = verdict{}
	verdicts.Put(v)
}

type call struct{ v *verdict }

func (c *call) exit() { recycle(c.v) }

// Rule checks one resource.
type Rule interface {
	Allow(resource string) (ok bool, waitMs int64)
}

// Guard applies rules.
type Guard struct {
	rules   []Rule
	blocked atomic.Int64
	waited  atomic.Int64
}

// ErrBlocked says that a rule refused.
var ErrBlocked = errors.New("blocked")

// Do runs fn when all rules allow it.
func (g *Guard) Do(resource string, fn func() error) error {
	c := &call{v: verdicts.Get().(*verdict)}
	for _, r := range g.rules {
		if ok, wait := r.Allow(resource); !ok {
			c.v.blocked = true
		} else {
			c.v.waitMs += wait
		}
	}
	var err error
	if c.v.blocked {
		err = ErrBlocked
	} else {
		err = fn()
	}
	c.exit()
	g.waited.Add(c.v.waitMs) // want `\(useafterput\)`
	if err == ErrBlocked {
		g.blocked.Add(1)
	}
	return err
}
