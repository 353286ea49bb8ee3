package dewstatsviz

import (
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond"
)

func pool(t *testing.T, name string) *dewpond.BytePool {
	t.Helper()
	p, err := dewpond.NewBytePool(dewpond.BytePoolOptions{Name: name, MaxIdleBytes: dewpond.NoIdle})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// Each line shows what happened since the round before, for all plots the same.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool(t, "early")
		p.Put(p.Get(100))
		w := newWatch()
		var seen [4]int
		ask := func() (early, again, laterLine change) {
			time.Sleep(2 * time.Second)
			return w.look("early", &seen[0]), w.look("early", &seen[1]), w.look(later, &seen[2])
		}
		ask()
		for range 10 {
			p.Put(p.Get(100))
		}
		q, r := pool(t, "late"), pool(t, "later still")
		q.Put(q.Get(100))
		r.Get(1000)
		early, again, others := ask()
		if early.misses() != 5 || again.misses() != 5 || early.hitRate() != 0 {
			t.Errorf("%v and %v misses a second, want 5", early.misses(), again.misses())
		}
		if others.Misses != 2 || others.InUseBytes != 1024 {
			t.Errorf("pools made later: %+v", others)
		}
		kept, err := dewpond.NewBytePool(dewpond.BytePoolOptions{Name: "keeps"})
		if err != nil {
			t.Fatal(err)
		}
		defer kept.Close()
		for range 6 {
			kept.Put(kept.Get(100))
		}
		ask()
		early, _, others = ask()
		if early.misses() != 0 || others.misses() != 0 || others.InUseBytes != 1024 {
			t.Errorf("in a quiet time: %v, %v", early.misses(), others.misses())
		}
		if got, want := others.hitRate(), 100*float64(kept.Stats().Hits)/8; got != want { // of all Gets ever
			t.Errorf("in a quiet time the hit rate is %v, want %v", got, want)
		}

		p.Close()
		gone, _, _ := ask()
		if gone.Gets != 0 {
			t.Errorf("of a closed pool: %+v", gone)
		}
		p = pool(t, "early") // another, of the same name
		p.Put(p.Get(100))
		if anew, _, _ := ask(); anew.misses() != 0.5 {
			t.Errorf("of a new pool: %v misses a second", anew.misses())
		}
	})
}

// There is always a number that JSON has: statsviz stops at one that it has not.
func TestNumbers(t *testing.T) {
	w := newWatch()
	for _, c := range []change{{}, w.look("nobody", new(int)), {seconds: -1}} {
		for _, v := range []float64{c.hitRate(), c.misses(), c.waiting(), c.trimmed()} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%v of %+v", v, c)
			}
		}
	}
}

// A round looks once at each pool, however many lines there are, and at none while nobody
// watches.
func TestLooks(t *testing.T) {
	var each []float64
	for _, n := range []int{10, 100, 1000} {
		var pools []*dewpond.BytePool
		for range n {
			pools = append(pools, pool(t, "p"))
		}
		w := newWatch()
		watching := int64(0)
		w.watchers = func() int64 { return watching }
		seen := make([]int, len(w.names)*7)
		round := func() (looks int) {
			before := w.looks
			for i := range seen {
				w.look(w.names[i%len(w.names)], &seen[i])
			}
			return w.looks - before
		}
		if looks := round(); looks != 0 {
			t.Errorf("%d looks while nobody watches", looks)
		}
		watching = 1
		each = append(each, float64(round())/float64(n))
		for _, p := range pools {
			p.Close()
		}
	}
	for _, looks := range each {
		if looks < 1 || looks > 1.2 { // those of other tests are there too
			t.Errorf("looks for each of 10, 100 and 1000 pools: %.2f", each)
		}
	}
}

// A page that is open counts until it is closed.
func TestConnections(t *testing.T) {
	c := new(connections)
	closed := make(chan bool)
	server := httptest.NewServer(c.counted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if n := c.open.Load(); n != 1 {
			t.Errorf("%d are open", n)
		}
		conn.Close()
		conn.Close()
		close(closed)
	})))
	defer server.Close()
	if res, err := http.Get(server.URL); err == nil {
		res.Body.Close()
	}
	<-closed
	if n := c.open.Load(); n != 0 {
		t.Errorf("%d are open after it has closed", n)
	}
}
