//go:build go1.25

package dewtest_test

import (
	"testing"
	"testing/synctest"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
)

func TestExampleInBubble(t *testing.T) { testUpload(t) }

// In a bubble a pool of this package hands out what was put back, so that the bubble's test sees what a
// Reset has forgotten.
func TestForgottenResetInBubble(t *testing.T) {
	type request struct {
		done chan bool
		id   int
	}
	synctest.Test(t, func(t *testing.T) {
		p := dewtest.NewPool(t, dewpond.PoolOptions[request]{Reset: func(r *request) { r.done = nil }})
		seen := 0
		for range 10_000 { // more than the checks keep in quarantine
			r := p.Get()
			seen += r.id
			r.id = 1
			p.Put(r)
		}
		if seen == 0 {
			t.Error("each request is a new one")
		}
	})
}
