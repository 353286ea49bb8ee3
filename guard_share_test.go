package dewpond_test

import (
	"io"
	"math"
	"net"
	"testing"

	"github.com/dewpond/dewpond"
)

// A program that uses one block of ten after its Put: of so many samples a tenth is found, whatever the use is.
// With -dewpond.long there are fifty times as many.
func TestGuardFindsItsShare(t *testing.T) {
	guarding(t) // or skip: not all systems have sockets
	socket := discarding(t)
	for _, u := range []struct {
		name string
		kind dewpond.ViolationKind
		use  func(t *testing.T, b []byte)
	}{
		{"read", dewpond.ReadAfterPut, func(_ *testing.T, b []byte) { lateSink += b[1] }},
		{"write", dewpond.WriteAfterPut, func(_ *testing.T, b []byte) { b[1] = 1 }},
		{"socket write", dewpond.ReadAfterPut, func(t *testing.T, b []byte) {
			if n, err := socket.Write(b); n != len(b) || err != nil {
				t.Fatalf("Write: %d, %v", n, err)
			}
		}},
		{"string comparison", dewpond.ReadAfterPut, func(_ *testing.T, b []byte) {
			if string(b[:4]) == "POST" {
				lateSink++
			}
		}},
	} {
		t.Run(u.name, func(t *testing.T) {
			const oneIn = 10
			samples := uint64(2000)
			if *long {
				samples *= 50
			}
			g := guarding(t)
			p := g.pool(dewpond.BytePoolOptions{})
			for i := 0; p.Stats().GuardSamples < samples; i++ {
				b := p.Get(500)
				p.Put(b)
				if i%oneIn == 0 {
					u.use(t, b)
				}
				g.goesOn()
			}
			if found := g.sweep(); len(found) != 1 || found[0].Kind != u.kind {
				t.Errorf("reported %v, want a %v once", found, u.kind)
			}
			s := p.Stats()
			want := float64(s.GuardSamples) / oneIn
			deviation := math.Sqrt(want * (1 - 1./oneIn))
			if math.Abs(float64(s.Violations)-want) > 5*deviation {
				t.Errorf("of %d samples of which one in %d was used, %d were found, want %.0f within 5 times %.1f", s.GuardSamples, oneIn, s.Violations, want, deviation)
			}
			t.Logf("of %d samples %d were found, %+.1f standard deviations from %.0f", s.GuardSamples, s.Violations, (float64(s.Violations)-want)/deviation, want)
		})
	}
}

// discarding returns a connection whose other end reads all and forgets it.
func discarding(t *testing.T) net.Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	here, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close() })
	there, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer there.Close()
		io.Copy(io.Discard, there)
	}()
	return here
}
