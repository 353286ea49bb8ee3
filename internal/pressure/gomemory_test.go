package pressure

import (
	"runtime"
	"runtime/debug"
	"testing"
)

var kept [][]byte

// Live bytes count as used, garbage does not.
func TestGarbageIsNotUsed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const mib = 1 << 20
	m := newGoMetrics(nil)
	runtime.GC()
	before := m.read().used
	for range 64 {
		kept = [][]byte{make([]byte, mib)} // each turns the last into garbage
	}
	if got := m.read().used - before; got > 16*mib {
		t.Errorf("64 MiB of garbage count as %d bytes", got)
	}
	kept = nil
	for range 64 {
		kept = append(kept, make([]byte, mib))
	}
	runtime.GC()
	if got := m.read().used - before; got < 60*mib || got > 80*mib {
		t.Errorf("64 MiB alive count as %d bytes", got)
	}
	kept = nil
}
