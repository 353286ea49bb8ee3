package learn

import (
	"math/rand/v2"
	"testing"

	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// The class rises at once, to what bodies need and no further.
func TestBodiesRise(t *testing.T) {
	classes := table(sizeclass.Default()...)
	var b Bodies
	b.Init(classes)
	if b.Size() != Least || classes.Size(b.Class()) != b.Size() {
		t.Fatalf("it begins with class %d of %d bytes", b.Class(), b.Size())
	}
	const n, fits = 300_000, 327_680
	if steps := until(func() bool { return b.Size() >= n }, func() { b.Learn(n) }); steps > longestRun+1 {
		t.Errorf("it rises in %d steps", steps)
	}
	for range 1000 {
		b.Learn(n)
	}
	if b.Size() != fits {
		t.Errorf("after bodies of %d bytes its size is %d", n, b.Size())
	}
	for range 2 * longestRun {
		b.Learn(2 << 20)
	}
	if b.Size() != 1<<20 {
		t.Errorf("after bodies above the largest class its size is %d", b.Size())
	}
	was := b.Size()
	for range 1000 {
		b.Learn(0)
	}
	if b.Size() != was {
		t.Errorf("empty bodies make its size %d", b.Size())
	}
}

// The class falls by one at a time, and slowly.
func TestBodiesFall(t *testing.T) {
	var b Bodies
	b.Init(table(sizeclass.Default()...))
	for b.Size() < 1<<20 {
		b.Learn(1 << 20)
	}
	steps, falls := 0, int(b.Class())
	for class := b.Class(); class > 0; steps++ {
		b.Learn(10)
		if b.Class() != class && b.Class() != class-1 {
			t.Fatalf("it falls from class %d to %d", class, b.Class())
		}
		class = b.Class()
	}
	if steps < 5*falls { // 15 times on average
		t.Errorf("it falls by %d classes with %d bodies", falls, steps)
	}
}

// Of bodies of many sizes about one in 16 is larger than the size.
func TestBodiesOutgrow(t *testing.T) {
	var b Bodies
	b.Init(table(sizeclass.Default()...))
	rng := rand.New(rand.NewPCG(1, 2))
	const bodies = 100_000
	outgrown := 0
	for range bodies {
		n := 1 + rng.IntN(32<<10)
		if n > b.Size() {
			outgrown++
		}
		b.Learn(n)
	}
	if outgrown < bodies/24 || outgrown > bodies/12 {
		t.Errorf("%d of %d bodies outgrew it, want about %d", outgrown, bodies, bodies/16)
	}
}

// Where there is one class, that is it, whether Least bytes fit or not.
func TestBodiesOfOneClass(t *testing.T) {
	for _, class := range []int{64, 256 << 10} {
		var b Bodies
		b.Init(table(class))
		for range 1000 {
			b.Learn(10)
			b.Learn(1 << 20)
			if b.Size() != class {
				t.Fatalf("the only class has %d bytes, and it says %d", class, b.Size())
			}
		}
	}
}

// Whatever many goroutines teach it, it is a class.
func TestBodiesConcurrently(t *testing.T) {
	classes := table(64, 512, 4096)
	var b Bodies
	b.Init(classes)
	var wg go125.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(g)))
			for range 10_000 {
				b.Learn(rng.IntN(10_000))
				if int(b.Class()) >= classes.Len() {
					t.Errorf("class %d", b.Class())
					return
				}
			}
		})
	}
	wg.Wait()
}
