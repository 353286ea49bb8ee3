package offheap_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

// A Close that runs while another goroutine has a block in hand, here a Trim and
// elsewhere the timer, may say that the block is out. It does not leave memory mapped
// for longer than that takes.
func TestCloseBesideTrim(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for met := 0; met < 3; { // if they never meet, the test runs into its timeout
		p, err := offheap.Options{Reserve: 64 << 20}.NewBytePool(dewpond.BytePoolOptions{Name: "brief"})
		if err != nil {
			t.Fatal(err)
		}
		var all [][]byte
		for range 300 {
			all = append(all, p.Get(8192))
		}
		for _, b := range all {
			p.Put(b)
		}
		trimmed := make(chan bool)
		go func() {
			p.Trim()
			close(trimmed)
		}()
		for p.Stats().Trimmed == 0 {
			runtime.Gosched()
		}
		if p.Close() != nil || p.Stats().OffHeap.Reserved > 0 {
			met++
		}
		<-trimmed
		for p.Stats().OffHeap.Reserved > 0 {
			time.Sleep(time.Millisecond)
		}
		if s := p.Stats(); s.IdleBytes != 0 || s.InUseBytes != 0 || s.OffHeap.Committed != 0 {
			t.Fatalf("%+v", s)
		}
	}
}
