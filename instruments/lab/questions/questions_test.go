package questions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
)

type user struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// withoutCollector keeps the collector from emptying a pool meanwhile.
func withoutCollector(t *testing.T) {
	old := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(old) })
}

// 1. A pool relieves the collector: with it, less is allocated.
func TestLessIsAllocated(t *testing.T) {
	var kept *[4096]byte
	pool := sync.Pool{New: func() any { return new([4096]byte) }}
	without := testing.AllocsPerRun(1000, func() { kept = new([4096]byte) })
	with := testing.AllocsPerRun(1000, func() {
		b := pool.Get().(*[4096]byte)
		b[0] = 1
		pool.Put(b)
	})
	runtime.KeepAlive(kept)
	if without != 1 || with >= 0.5 { // the race detector has a pool drop some
		t.Errorf("%v allocations without a pool, %v with one; want 1 and hardly any", without, with)
	}
}

// 2. New is called by a Get that finds nothing, as often as more objects are out than there were before.
func TestNewIsCalledByAnEmptyGet(t *testing.T) {
	withoutCollector(t)
	made := 0
	pool := sync.Pool{New: func() any { made++; return new(user) }}
	if made != 0 {
		t.Fatalf("New was called %d times before a Get", made)
	}
	a, b := pool.Get(), pool.Get()
	if made != 2 {
		t.Errorf("two Gets of an empty pool have called New %d times", made)
	}
	pool.Put(a)
	pool.Put(b)
	if made != 2 {
		t.Errorf("Put has called New")
	}
}

// handed puts an object back and returns it from a pool again. The race detector has a pool drop some.
func handed(t *testing.T, pool *sync.Pool, x any) any {
	t.Helper()
	for range 1000 {
		pool.Put(x)
		if y := pool.Get(); y != nil {
			return y
		}
	}
	t.Fatal("the pool has dropped all that was put back")
	return nil
}

// 3. A pool hands out what was put in, as it was put in.
func TestAPoolDoesNotReset(t *testing.T) {
	withoutCollector(t)
	var pool sync.Pool
	u := &user{Name: "ann", Email: "ann@example.com"}
	if got := handed(t, &pool, u).(*user); got.Email != "ann@example.com" {
		t.Errorf("the pool has cleared %+v", got)
	}
}

// putName clears one field and forgets the other.
func putName(u *user) *user {
	u.Name = ""
	return u
}

// putUser clears every field.
func putUser(u *user) *user {
	*u = user{}
	return u
}

// 4. What is not cleared, and absent from the next input, is the last user's.
func TestEveryFieldMustBeCleared(t *testing.T) {
	withoutCollector(t)
	for _, test := range []struct {
		put  func(*user) *user
		want string
	}{{putName, "ann@example.com"}, {putUser, ""}} {
		var pool sync.Pool
		u := handed(t, &pool, test.put(&user{Name: "ann", Email: "ann@example.com"})).(*user)
		if err := json.Unmarshal([]byte(`{"name":"bob"}`), u); err != nil {
			t.Fatal(err)
		}
		if u.Name != "bob" || u.Email != test.want {
			t.Errorf("bob is %+v, want the address %q", u, test.want)
		}
	}
}

// 5. Reset keeps the memory of a buffer; without it the next answer follows the last.
func TestResetKeepsCapacity(t *testing.T) {
	b := bytes.NewBuffer(make([]byte, 0, 4096))
	b.WriteString("ann")
	b.WriteString("bob")
	if b.String() != "annbob" {
		t.Errorf("without a Reset the buffer has %q", b)
	}
	b.Reset()
	b.WriteString("bob")
	if b.String() != "bob" || b.Cap() < 4096 {
		t.Errorf("after Reset the buffer has %q and a capacity of %d", b, b.Cap())
	}
	if fresh := new(bytes.Buffer); fresh.Cap() != 0 {
		t.Errorf("a new buffer has a capacity of %d", fresh.Cap())
	}
}

// 6. One collection leaves what is in a pool, two do not, and nothing can be asked for by a name.
func TestTwoCollectionsEmptyAPool(t *testing.T) {
	withoutCollector(t)
	lost := func(collections int) int {
		const n = 200
		made := 0
		pool := sync.Pool{New: func() any { made++; return new([64]byte) }}
		var held []any
		hold := func() {
			for range n {
				held = append(held, pool.Get())
			}
		}
		hold()
		for _, x := range held {
			pool.Put(x)
		}
		held, made = held[:0], 0
		for range collections {
			runtime.GC()
		}
		hold()
		return made
	}
	// The race detector has a pool drop a quarter of what is put back.
	if none, two := lost(0), lost(2); none >= 150 || two != 200 {
		t.Errorf("of 200 objects %d are gone at once and %d after two collections; want few and all", none, two)
	}
	if one := lost(1); one >= 150 {
		t.Errorf("of 200 objects %d are gone after one collection; want few", one)
	}
}

func Example_neverAnOldUser() {
	var pool sync.Pool
	pool.Put(putUser(&user{Name: "ann", Email: "ann@example.com"}))
	u, _ := pool.Get().(*user)
	if u == nil { // a pool may have nothing
		u = new(user)
	}
	fmt.Printf("%q\n", u.Email)
	// Output: ""
}
