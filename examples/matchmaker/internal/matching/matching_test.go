package matching

import (
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/dewpond/dewpond"
)

// fill puts sixteen candidates into c, as a store does.
func fill(c *Context) {
	for i := range int64(Most) {
		c.Candidates = append(c.Candidates, Candidate{
			UID: i, Name: "somebody", Age: int32(20 + i), Score: Score(0b1011, i*37, 25, int32(20+i)),
		})
	}
}

func TestPick(t *testing.T) {
	c := New()
	fill(c)
	c.Filter(Not, 3)
	c.Filter(MinAge, 22)
	c.Filter(MaxAge, 30)
	picked := c.Pick(5)
	if len(picked) != 5 {
		t.Fatalf("%d are picked of the eight that pass, want 5", len(picked))
	}
	for i, p := range picked {
		if p.UID == 3 || p.Age < 22 || p.Age > 30 {
			t.Errorf("%+v passes the filters", p)
		}
		if i > 0 && p.Score > picked[i-1].Score {
			t.Errorf("%v follows %v: the best come first", p.Score, picked[i-1].Score)
		}
	}
}

func TestPickKeepsTheOrderOfEqualOnes(t *testing.T) {
	c := new(Context)
	for i := range int64(8) {
		c.Candidates = append(c.Candidates, Candidate{UID: i, Score: float64(i % 2)})
	}
	var order []int64
	for _, p := range c.Pick(Best) {
		order = append(order, p.UID)
	}
	if want := []int64{1, 3, 5, 7, 0, 2, 4, 6}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
}

func TestPickAllocatesNothing(t *testing.T) {
	if os.Getenv("DEWPOND_CHECK") != "" {
		t.Skip("a pool that is watched allocates what it notes")
	}
	pool := dewpond.MustPool(dewpond.PoolOptions[Context]{Name: t.Name(), New: New})
	defer pool.Close()
	match := func() {
		c := pool.Get()
		fill(c)
		c.Filter(MinAge, 18)
		c.Filter(Not, 7)
		c.Pick(Best)
		pool.Put(c)
	}
	for range 200 { // the portable engine chooses its shards at random
		match()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection's allocations count too
	least := testing.AllocsPerRun(100, match)        // of several: others allocate as well
	for range 4 {
		least = min(least, testing.AllocsPerRun(100, match))
	}
	if least != 0 {
		t.Errorf("a match allocates %v times, want 0", least)
	}
}

// What a pool hands out has nothing of an earlier user, up to the end of its room.
func TestAContextThatComesBackIsClean(t *testing.T) {
	if clean(t, (*Context).Reset) != "" {
		t.Error(clean(t, (*Context).Reset))
	}
	if clean(t, func(*Context) {}) == "" {
		t.Error("a Reset that does nothing is not noticed")
	}
}

func clean(t *testing.T, reset func(*Context)) string {
	pool := dewpond.MustPool(dewpond.PoolOptions[Context]{Name: t.Name(), New: New, Reset: reset, MaxOut: 1})
	defer pool.Close()
	c := pool.Get()
	fill(c)
	c.Filter(Not, 3)
	c.Pick(2)
	pool.Put(c)
	for range 1000 { // the portable engine may have put it where another Get does not look at once
		c = pool.Get()
		switch {
		case len(c.Candidates) > 0:
			return "it has candidates"
		case len(c.Filters) > 0:
			return "it has filters"
		}
		for _, x := range c.Candidates[:cap(c.Candidates)] {
			if x != (Candidate{}) {
				return "its room has a candidate"
			}
		}
		pool.Put(c)
	}
	return ""
}

func BenchmarkMatch(b *testing.B) {
	pool := dewpond.MustPool(dewpond.PoolOptions[Context]{Name: b.Name(), New: New})
	defer pool.Close()
	for name, get := range map[string]func() *Context{"pooled": pool.Get, "new": New} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := get()
				fill(c)
				c.Filter(MinAge, 18)
				c.Pick(Best)
				if name == "pooled" {
					pool.Put(c)
				}
			}
		})
	}
}
