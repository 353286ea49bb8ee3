package dewpond_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
)

// A decoder leaves alone what its input does not mention. So a struct that is used
// again without a reset still says what it said before, and one from a Pool says
// nothing: Put sets it to zero.
func ExamplePool() {
	type user struct {
		ID          int
		Name, Email string
		Profile     [512]byte
	}
	pool := dewpond.MustPool(dewpond.PoolOptions[user]{Name: "users"})
	defer pool.Close()

	var reused user
	for _, body := range []string{
		`{"ID": 7, "Name": "alice", "Email": "a@x"}`,
		`{"ID": 8}`,
	} {
		json.Unmarshal([]byte(body), &reused)
		fmt.Printf("reused: %d %q %q\n", reused.ID, reused.Name, reused.Email)

		u := pool.Get()
		json.Unmarshal([]byte(body), u)
		fmt.Printf("pooled: %d %q %q\n", u.ID, u.Name, u.Email)
		pool.Put(u)
	}
	// Output:
	// reused: 7 "alice" "a@x"
	// pooled: 7 "alice" "a@x"
	// reused: 8 "alice" "a@x"
	// pooled: 8 "" ""
}

// A zipper is a gzip.Writer that writes to whatever to has.
type zipper struct {
	*gzip.Writer
	to struct{ io.Writer }
}

// Drop what an object points to before Put, and do an expensive Reset after Get. A gzip.Writer has
// 814 KB, and its Reset clears all of it. After Get that brings the memory into the caches for the
// answer that follows. Before Put it is cold again by the next Get, and the answer takes up to twice
// as long. So the pool only takes the destination away, which is a field here, and an idle writer
// keeps nothing alive. The same form serves compress/flate and compress/zlib.
func ExamplePool_gzip() {
	pool := dewpond.MustPool(dewpond.PoolOptions[zipper]{
		Name:    "gzip",
		New:     func() *zipper { return &zipper{Writer: gzip.NewWriter(nil)} },
		Reset:   func(z *zipper) { z.to.Writer = nil },
		MaxIdle: 32, // the default, 4096, would be 3 GB
	})
	defer pool.Close()

	for _, text := range []string{"first answer", "second answer"} {
		var compressed strings.Builder
		w := pool.Get()
		w.to.Writer = &compressed
		w.Reset(&w.to)
		io.WriteString(w, text)
		err := w.Close()
		pool.Put(w)

		r, _ := gzip.NewReader(strings.NewReader(compressed.String()))
		io.Copy(os.Stdout, r)
		fmt.Println(":", err)
	}
	// Output:
	// first answer: <nil>
	// second answer: <nil>
}

// A bufio.Reader goes back with bytes that it has read ahead.
// Reset drops them, and the connection with them. It sets a few fields and clears no buffer,
// so that the second one, after Get, costs next to nothing.
func ExamplePool_bufio() {
	pool := dewpond.MustPool(dewpond.PoolOptions[bufio.Reader]{
		Name:  "readers",
		New:   func() *bufio.Reader { return bufio.NewReaderSize(nil, 16<<10) },
		Reset: func(r *bufio.Reader) { r.Reset(nil) },
	})
	defer pool.Close()

	for _, connection := range []string{"GET /a\nread ahead", "GET /b\n"} {
		r := pool.Get()
		r.Reset(strings.NewReader(connection))
		line, err := r.ReadString('\n')
		fmt.Printf("%q %v, %d bytes read ahead\n", line, err, r.Buffered())
		pool.Put(r)
	}
	// Output:
	// "GET /a\n" <nil>, 10 bytes read ahead
	// "GET /b\n" <nil>, 0 bytes read ahead
}

type player struct {
	name   string
	rating int
}

// A matchContext is what the search for one opponent needs until it is over.
type matchContext struct {
	candidates []*player
	distance   map[*player]int
}

func newMatchContext() *matchContext {
	return &matchContext{make([]*player, 0, 16), make(map[*player]int, 4)}
}

// Reset keeps the memory of the slice and of the map. The pointers go: a player in an
// idle context would be kept from the collector.
func (c *matchContext) Reset() {
	clear(c.candidates)
	c.candidates = c.candidates[:0]
	clear(c.distance)
}

// opponent returns the closest of the waiting players, or nil if none is close enough.
func (c *matchContext) opponent(of *player, waiting []*player) *player {
	for _, p := range waiting {
		distance := max(p.rating-of.rating, of.rating-p.rating)
		if p != of && distance <= 100 {
			c.candidates = append(c.candidates, p)
			c.distance[p] = distance
		}
	}
	if len(c.candidates) == 0 {
		return nil
	}
	return slices.MinFunc(c.candidates, func(a, b *player) int { return c.distance[a] - c.distance[b] })
}

func newMatchPool() *dewpond.Pool[matchContext] {
	return dewpond.MustPool(dewpond.PoolOptions[matchContext]{
		Name: "matches",
		New:  newMatchContext,
		// A crowd has stretched this one, for good: let it go.
		Keep: func(c *matchContext) bool { return cap(c.candidates) <= 1024 },
	})
}

// The pool finds the method Reset of *matchContext and calls it on Put. It keeps the
// capacity of the slice and the map, so that a search allocates nothing.
func ExamplePool_reset() {
	pool := newMatchPool()
	defer pool.Close()

	ada, bob, eve := &player{"ada", 1500}, &player{"bob", 1560}, &player{"eve", 1900}
	waiting := []*player{ada, bob, eve}
	for _, p := range waiting {
		c := pool.Get()
		if found := c.opponent(p, waiting); found != nil {
			fmt.Println(p.name, "plays", found.name)
		} else {
			fmt.Println(p.name, "waits on")
		}
		pool.Put(c)
	}
	// Output:
	// ada plays bob
	// bob plays ada
	// eve waits on
}

func TestMatchContextAllocatesNothing(t *testing.T) {
	pool := newMatchPool()
	defer pool.Close()
	var waiting []*player
	for i := range 40 { // more than a new context has room for
		waiting = append(waiting, &player{rating: 1500 + i})
	}
	match := func() {
		c := pool.Get()
		if c.opponent(waiting[0], waiting) != waiting[1] {
			t.Fatal("the closest player was not found")
		}
		pool.Put(c)
	}
	for range 1000 { // the portable engine finds its shards by chance
		match()
	}
	if n := testing.AllocsPerRun(1000, match); n != 0 {
		t.Errorf("%v allocations for a match, want 0", n)
	}
}

func TestMatchContextResetKeepsNothingButMemory(t *testing.T) {
	c := newMatchContext()
	ada, bob := &player{"ada", 1500}, &player{"bob", 1500}
	c.opponent(ada, []*player{bob})
	c.Reset()
	if len(c.candidates) != 0 || cap(c.candidates) != 16 || len(c.distance) != 0 {
		t.Errorf("%d candidates of %d, %d distances; want 0 of 16, 0", len(c.candidates), cap(c.candidates), len(c.distance))
	}
	if c.candidates[:1][0] != nil {
		t.Error("the idle context holds a player")
	}
}

// There is memory for two workspaces and no more. Callers that
// can do without one use TryGet. The others wait their turn, as long as their ctx allows.
func ExamplePool_GetContext() {
	type workspace struct {
		used int
		grid [1 << 17]float64 // 1 MiB
	}
	pool := dewpond.MustPool(dewpond.PoolOptions[workspace]{
		Name:   "workspaces",
		MaxOut: 2,
		Reset:  func(w *workspace) { clear(w.grid[:w.used]); w.used = 0 },
	})
	defer pool.Close()

	first, second := pool.Get(), pool.Get()
	first.grid[0], first.used = 1, 1
	_, err := pool.TryGet()
	fmt.Println(errors.Is(err, dewpond.ErrExhausted)) // answer 503

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	_, err = pool.GetContext(ctx)
	cancel()
	fmt.Println(err)

	go pool.Put(first)
	third, err := pool.GetContext(context.Background()) // waits for the Put
	fmt.Println(third == first, third.grid[0], err)

	pool.Put(second)
	pool.Put(third)
	s := pool.Stats()
	fmt.Println(s.Misses, "made,", s.InUseBytes, "bytes in use")
	// Output:
	// true
	// dewpond: pool "workspaces" is exhausted: context deadline exceeded
	// true 0 <nil>
	// 2 made, 0 bytes in use
}
