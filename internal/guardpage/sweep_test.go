package guardpage

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/dewpond/dewpond/misuse"
)

// A slowOwner takes its time for a report.
type slowOwner struct {
	begun, end chan struct{}
	reported   atomic.Bool
}

func (*slowOwner) Name() string { return "slow" }

func (o *slowOwner) Report(misuse.Violation) {
	close(o.begun)
	<-o.end
	o.reported.Store(true)
}

// A caller of Sweep finds everything reported, also what the timer's Sweep has found and not reported yet.
func TestSweepWaitsForReports(t *testing.T) {
	f := newFake(4096)
	g := f.guard()
	o := &slowOwner{begun: make(chan struct{}), end: make(chan struct{})}
	block := g.Get(make([]byte, 100), o)
	g.Put(block, false, o)
	f.touch(block)
	go g.Sweep()
	<-o.begun
	var returned atomic.Bool
	done := make(chan bool)
	go func() {
		g.Sweep()
		returned.Store(true)
		done <- o.reported.Load()
	}()
	for range 1000 {
		if runtime.Gosched(); returned.Load() {
			break
		}
	}
	close(o.end)
	if !<-done {
		t.Error("a Sweep returned before what another had found was reported")
	}
}
