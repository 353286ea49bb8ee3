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

// The class falls by one at a time: slowly to what bodies fill most of, or where it is small
// anyhow, and quickly where they fill next to nothing of it.
func TestBodiesFall(t *testing.T) {
	classes := table(sizeclass.Default()...)
	var b Bodies
	b.Init(classes)
	fallTo := func(size int, body func() int) (classes, bodies int) {
		t.Helper()
		from := int(b.Class())
		for class := b.Class(); b.Size() > size; bodies++ {
			b.Learn(body())
			if b.Class() != class && b.Class() != class-1 {
				t.Fatalf("it falls from class %d to %d", class, b.Class())
			}
			class = b.Class()
		}
		return from - int(b.Class()), bodies
	}
	rise := func() {
		for b.Size() < 1<<20 {
			b.Learn(1 << 20)
		}
	}
	rise()
	if n, bodies := fallTo(Least, func() int { return classes.Size(b.Class() - 1) }); bodies < 5*n { // 15 times on average
		t.Errorf("it falls by %d classes with %d bodies that fill the class below", n, bodies)
	}
	rise()
	if n, bodies := fallTo(Least, func() int { return b.Size() / far }); bodies < 2*n || bodies > 8*n { // 4 times
		t.Errorf("it falls by %d classes with %d bodies that fill an eighth", n, bodies)
	}
	n, bodies := 0, 0
	for range 20 {
		for b.Size() < Least {
			b.Learn(Least)
		}
		classes, more := fallTo(64, func() int { return 1 })
		n, bodies = n+classes, bodies+more
	}
	if bodies < 8*n {
		t.Errorf("it falls from %d bytes or less by %d classes with %d bodies", Least, n, bodies)
	}
}

// One body in 12 of 1 MiB or 8 KiB, alone or three in a row, makes no block large for those of
// 200 bytes, whether or not all were large before. One in 3 does.
func TestBodiesOfTwoSizes(t *testing.T) {
	const small, n = 200, 20_000
	for _, tt := range []struct {
		large, oneIn, inARow int
		before               int
		follows              bool // its size is that of the large ones
	}{
		{large: 1 << 20, oneIn: 12, inARow: 1},
		{large: 1 << 20, oneIn: 12, inARow: 1, before: 100},
		{large: 1 << 20, oneIn: 12, inARow: 3},
		{large: 1 << 20, oneIn: 12, inARow: 3, before: 100},
		{large: 1 << 20, oneIn: 6, inARow: 1, before: 100},
		{large: 8 << 10, oneIn: 12, inARow: 1},
		{large: 8 << 10, oneIn: 12, inARow: 1, before: 100},
		{large: 1 << 20, oneIn: 3, inARow: 1, before: 100, follows: true},
		{large: 1 << 20, oneIn: 12, inARow: 100, follows: true}, // while these come
	} {
		var b Bodies
		b.Init(table(sizeclass.Default()...))
		for range tt.before {
			b.Learn(tt.large)
		}
		held, fits := 0, 0
		for i := range 2 * n {
			size := small
			if i/tt.inARow%tt.oneIn == 0 {
				size = tt.large
			}
			if i > n && size == small {
				held = max(held, b.Size())
			}
			if i > n && size == tt.large && b.Size() >= tt.large/4 {
				fits++
			}
			b.Learn(size)
		}
		if tt.follows {
			if few := n / tt.oneIn * 3 / 4; fits < few {
				t.Errorf("%+v: its size has followed %d large bodies, want %d of %d", tt, fits, few, n/tt.oneIn)
			}
		} else if held > far*small || held < small {
			t.Errorf("%+v: a small body holds up to %d bytes", tt, held)
		}
	}
}

// A size that may have been handed out makes the class fall, slowly, and a larger one makes it rise.
func TestBodiesLearnCap(t *testing.T) {
	var b Bodies
	b.Init(table(sizeclass.Default()...))
	if b.LearnCap(Spread * Least); b.Size() > Least {
		t.Errorf("what may have been handed out makes its size %d", b.Size())
	}
	if steps := until(func() bool { return Spread*b.Size() >= 300_000 }, func() { b.LearnCap(300_000) }); steps > longestRun+1 {
		t.Errorf("it rises in %d steps", steps)
	}
	falls := int(b.Class())
	if steps := until(func() bool { return b.Class() == 0 }, func() { b.LearnCap(b.Size()) }); steps < 5*falls {
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
