//go:build !race

package offheap_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

var sink byte

func faults(at *byte) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { faulted = recover() != nil }()
	sink = *at
	return false
}

func TestUseAfterCloseFaults(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{}, offheap.Options{})
	b := p.Get(100)
	p.Close()
	if faults(&b[0]) {
		t.Fatal("a block that is out is unmapped")
	}
	p.Put(b)
	if !faults(&b[0]) {
		t.Error("no fault after the last Put")
	}
}

// A pool that becomes unreachable with idle blocks in it is unmapped. If it were not,
// the test would not end.
func TestForgottenPoolIsUnmapped(t *testing.T) {
	b := forget(t)
	for !faults(&b[0]) {
		runtime.GC()
	}
}

//go:noinline
func forget(t *testing.T) []byte {
	p, err := offheap.NewBytePool(dewpond.BytePoolOptions{Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	b := p.Get(5000)
	p.Put(b)
	return b
}
