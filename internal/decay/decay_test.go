package decay

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Blocks that stay idle are kept for one timeout and are gone after two, along the curve.
func TestCurve(t *testing.T) {
	const blocks = 1000
	var c Class
	left := blocks
	for epoch := 1; epoch <= 2*Epochs+3; epoch++ {
		left -= c.Advance(1, left)
		// The first epoch of the curve is the one in which the window is full.
		want := blocks
		switch age := epoch - Epochs; {
		case age >= fade:
			want = 0
		case age > 0:
			x := 1 - float64(age)/fade
			want = int(math.Ceil(blocks * (6*math.Pow(x, 5) - 15*math.Pow(x, 4) + 10*math.Pow(x, 3))))
		}
		if left < want-1 || left > want+1 { // 1: the powers above round otherwise
			t.Errorf("after %d epochs %d are left, want %d", epoch, left, want)
		}
	}
	if left != 0 {
		t.Errorf("%d are left forever", left)
	}
}

func TestSmooth(t *testing.T) {
	for _, tt := range []struct{ x, want float64 }{{0, 0}, {0.5, 0.5}, {1, 1}, {0.25, 0.103515625}} {
		if got := smooth(tt.x); got != tt.want {
			t.Errorf("smooth(%v) = %v, want %v", tt.x, got, tt.want)
		}
	}
	for x := 0.0; x < 1; x += 0.001 {
		if smooth(x+0.001) < smooth(x) {
			t.Fatalf("smooth falls at %v", x)
		}
	}
}

// A pool that keeps what decay lets it, and demand that comes in bursts.
type pool struct {
	Class
	idle, low, misses int
}

func (p *pool) burst(n int) {
	p.misses += max(0, n-p.idle)
	p.idle = max(p.idle, n)
	p.low = p.idle - n
}

func (p *pool) epoch() {
	p.idle -= p.Advance(1, p.low)
	p.low = p.idle
}

// A burst that comes back before a timeout is over finds everything.
func TestPeriodicBurstCostsNoMiss(t *testing.T) {
	for _, period := range []int{1, 2, 7, Epochs / 2, Epochs - 1} {
		var p pool
		p.burst(500)
		p.misses = 0
		for epoch := 1; epoch < 50*Epochs; epoch++ {
			if epoch%period == 0 {
				p.burst(500)
			}
			p.epoch()
		}
		if p.misses != 0 || p.idle != 500 {
			t.Errorf("every %d epochs: %d misses, %d blocks", period, p.misses, p.idle)
		}
	}
	// A burst that comes seldom does not keep its blocks: the test can fail.
	var p pool
	p.burst(500)
	p.misses = 0
	for range 3 * Epochs {
		p.epoch()
	}
	if p.burst(500); p.misses != 500 {
		t.Errorf("after three timeouts: %d misses", p.misses)
	}
}

// Only blocks that demand does not need are freed.
func TestKeepsWhatDemandNeeds(t *testing.T) {
	var p pool
	p.burst(1000)
	for range 4 * Epochs {
		p.burst(300)
		p.epoch()
	}
	if p.idle != 300 {
		t.Errorf("%d blocks for a demand of 300", p.idle)
	}
}

// No more blocks are freed than were idle all the time, and none is counted as freed twice.
func TestNeverMoreThanTheLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var c Class
		idle := r.IntN(1000)
		var lows []int
		for range 300 {
			low := idle
			if r.IntN(4) == 0 {
				low = r.IntN(idle + 1)
			}
			epochs := []int{1, 1, 1, 0, 3, 100}[r.IntN(6)]
			for range min(epochs, Epochs) {
				lows = append(lows, low)
			}
			if epochs == 0 && len(lows) > 0 {
				lows[len(lows)-1] = min(lows[len(lows)-1], low)
			}
			release := c.Advance(epochs, low)
			least := 0
			if len(lows) >= Epochs {
				least = low
				for _, l := range lows[len(lows)-Epochs:] {
					least = min(least, l)
				}
			}
			if release < 0 || release > least {
				t.Fatalf("released %d of which only %d were idle throughout", release, least)
			}
			idle -= release
			for i := range lows {
				lows[i] -= release
			}
			if r.IntN(3) == 0 {
				idle += r.IntN(200)
			}
		}
	}
}

func TestElapsed(t *testing.T) {
	const epoch = 10 * time.Second
	for _, tt := range []struct {
		moved  time.Duration
		epochs int
		rest   time.Duration
	}{
		{0, 0, 0},
		{9 * time.Second, 0, 9 * time.Second},
		{10 * time.Second, 1, 0},
		{25 * time.Second, 2, 5 * time.Second},
		{-time.Hour, 0, 0},
		{Epochs * epoch, Epochs, 0},
		{math.MaxInt64, Epochs, 0},
		{math.MinInt64, 0, 0},
	} {
		if n, rest := Elapsed(tt.moved, epoch); n != tt.epochs || rest != tt.rest {
			t.Errorf("Elapsed(%v) = %d, %v; want %d, %v", tt.moved, n, rest, tt.epochs, tt.rest)
		}
	}
	if got := Epoch(1); got != 1 {
		t.Errorf("Epoch(1ns) = %v", got)
	}
}

// A clock that jumps ahead does not free everything at once.
func TestClockJump(t *testing.T) {
	var c Class
	epochs, _ := Elapsed(1000*time.Hour, time.Second)
	if got := c.Advance(epochs, 100); got != 0 {
		t.Errorf("a jump lets %d of 100 go at once", got)
	}
	left := 100
	for range Epochs {
		left -= c.Advance(1, left)
	}
	if left != 0 {
		t.Errorf("a timeout after the jump %d are left", left)
	}
}
