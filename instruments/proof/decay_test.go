package proof

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dewpond/dewpond"
)

// Decay has no goroutine, neither while a timer is armed nor after Close.
func TestDecayHasNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "decaying", IdleTimeout: time.Hour})
	objects := dewpond.MustPool(dewpond.PoolOptions[int]{Name: "decaying", IdleTimeout: time.Hour})
	for range 100 {
		p.Put(p.Get(1000))
		p.Put(p.Get(200_000))
		objects.Put(objects.Get())
	}
	goleak.VerifyNone(t, before)
	p.Close()
	objects.Close()
	goleak.VerifyNone(t, before)
}
