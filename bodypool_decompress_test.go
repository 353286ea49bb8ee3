package dewpond_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dewpond/dewpond"
)

// A packet is what a client of a message broker gets: runs of one byte, each as a count
// and the byte.
type packet []byte

// newPacket returns a packet for a body of n bytes.
func newPacket(n int) (p packet) {
	for i := 0; n > 0; i++ {
		run := min(n, 1+i*7%200)
		p = append(p, byte(run), byte(i))
		n -= run
	}
	return p
}

// decompress appends the body of a packet, as decompressors do: how large it is shows only
// at its end.
func decompress(dst []byte, p packet) []byte {
	for i := 0; i < len(p); i += 2 {
		for range p[i] {
			dst = append(dst, p[i+1])
		}
	}
	return dst
}

// packets returns what a broker sends: bodies of some kilobytes, a few much larger.
func packets(n int) (all []packet) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		all = append(all, newPacket(int(8192*math.Exp(0.6*rng.NormFloat64()))+600))
	}
	return all
}

// What a decompressor returns has outgrown the block that it was given. Put back, it is no
// block, and the next Get misses again. A BodyPool adopts it, and soon hands out blocks that
// few bodies outgrow.
func TestBodyPoolOnADecompressor(t *testing.T) {
	notWatched(t, putsForeign)
	onlyOnHeap(t, "a body that outgrows its block is on the heap")
	const count, atOnce = 1200, 4
	plain := newPool(t, dewpond.BytePoolOptions{Name: "plain"})
	pool := newPool(t, dewpond.BytePoolOptions{Name: "bodies"})
	bodies := pool.Bodies()
	outgrown := 0
	var out [][]byte
	for i, p := range packets(count) {
		plain.Put(decompress(plain.Get(512)[:0], p))

		block := bodies.Get()
		body := decompress(block, p)
		if cap(body) != cap(block) {
			outgrown++
		}
		if string(body) != string(decompress(nil, p)) {
			t.Fatalf("the body of packet %d is wrong", i)
		}
		if out = append(out, body); len(out) < atOnce {
			continue
		}
		if s := pool.Stats(); s.InUseBytes != atOnce*int64(dewpond.BodySize(bodies)) {
			t.Fatalf("%d bytes are in use while %d bodies of %d are out", s.InUseBytes, atOnce, dewpond.BodySize(bodies))
		}
		for _, body := range out {
			bodies.Put(body)
		}
		if out = out[:0]; pool.Stats().InUseBytes != 0 {
			t.Fatalf("%d bytes are in use while nothing is out", pool.Stats().InUseBytes)
		}
	}
	if s := plain.Stats(); s.Hits != 0 || s.InUseBytes != count*512 {
		t.Errorf("with Put %d of %d hits and %d bytes in use; the control shows nothing", s.Hits, s.Gets, s.InUseBytes)
	}
	s := pool.Stats()
	t.Logf("%.1f %% hits, %d of %d outgrew their blocks, which have %d bytes now", 100*s.HitRate(), outgrown, s.Gets, dewpond.BodySize(bodies))
	if s.HitRate() < 0.8 || s.Gets != count || s.Puts != count {
		t.Errorf("%.1f %% of %d Gets hit", 100*s.HitRate(), s.Gets)
	}
}
