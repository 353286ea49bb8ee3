package tool

import (
	"bytes"
	"encoding/json"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"

	"github.com/dewpond/dewpond/instruments/kit"
)

// bodies keeps what is written to it, a body for each Write.
type bodies [][]byte

func (b *bodies) Write(p []byte) (int, error) {
	*b = append(*b, bytes.Clone(p))
	return len(p), nil
}

// Every alternative of every case writes the same bodies: the JSON of the orders, of the size that
// the case names. In the mix every 25th body is the large one.
func TestBodiesAreTheSame(t *testing.T) {
	for _, c := range bufferCases() {
		var usual, large []order
		switch c.Name {
		case "JSON body of 1.2 KB":
			usual = orders(1200)
		case "JSON body of 8 KB", "JSON appended, 8 KB":
			usual = orders(8 << 10)
		case "JSON body of 200 KB":
			usual = orders(200 << 10)
		default:
			usual, large = orders(1200), orders(64<<10)
		}
		var got bodies
		written := bufferCase(c.Name, c.Cycle, usual, large, &got)
		switch c.Name {
		case "JSON appended, 1.2 KB", "JSON appended, 8 KB":
			large = nil
			written = appendCase(c.Name, usual, &got)
		}
		wanted, wantedLarge := encoded(t, usual), encoded(t, large)
		for _, a := range written.Alternatives {
			got = nil
			a.Loop(50)
			if len(got) != 50 {
				t.Fatalf("%s, %s: %d bodies of 50", c.Name, a.Name, len(got))
			}
			for i, b := range got {
				want := wanted
				if large != nil && i%25 == 24 {
					want = wantedLarge
				}
				if !bytes.Equal(b, want) {
					t.Fatalf("%s, %s: body %d is %.200q...", c.Name, a.Name, i, b)
				}
			}
		}
	}
}

// What is encoded is the JSON of the orders: it can be read back.
func encoded(t *testing.T, list []order) []byte {
	t.Helper()
	var b bytes.Buffer
	encodeStandard(&b, list)
	var got []order
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || !slices.Equal(got, list) {
		t.Fatalf("%d orders are encoded as %.200q..., %v", len(list), b.Bytes(), err)
	}
	return b.Bytes()
}

func TestSizesOfBodies(t *testing.T) {
	for _, size := range []int{1200, 8 << 10, 64 << 10, 200 << 10} {
		var b bytes.Buffer
		encodeStandard(&b, orders(size))
		if n := b.Len(); n < size || n > size+size/10 {
			t.Errorf("a body of about %d bytes has %d", size, n)
		}
	}
}

// The first alternative of each case uses a pool of dewpond's, and gives everything back. The others
// use none, except for Get+Put, which is what a Lease is compared with.
func TestWhoUsesDewpond(t *testing.T) {
	cases := Cases()
	pools := slices.Collect(dewpond.Pools()) // held, so that none of them is collected meanwhile and no longer counted
	for _, c := range cases {
		for i, a := range c.Alternatives {
			gets, puts := traffic(pools)
			a.Loop(50)
			moreGets, morePuts := traffic(pools)
			gets, puts = moreGets-gets, morePuts-puts
			if ours := i == 0 || c.Tool == "Lease"; (gets >= 50) != ours || !ours && gets > 0 || gets != puts {
				t.Errorf("%s, %s, %s: 50 uses are %d Gets and %d Puts of dewpond's pools", c.Tool, c.Name, a.Name, gets, puts)
			}
		}
	}
}

func traffic(pools []dewpond.StatsSource) (gets, puts uint64) {
	for _, p := range pools {
		if strings.HasPrefix(p.Name(), "bench-") {
			s := p.Stats()
			gets += s.Gets
			puts += s.Puts
		}
	}
	return gets, puts
}

// What each use allocates is known: nothing if memory is reused.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops at random under the race detector")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would empty the sync.Pools
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // idle objects belong to a processor
	const uses = 100
	for _, c := range Cases() {
		for _, a := range c.Alternatives {
			a.Loop(uses)
			few := uint64(uses / 10)
			if a.Name == "make" || a.Name == "bytes.Buffer" || a.Name == "bytebufferpool" && c.Cycle > 1 {
				few = math.MaxUint64 // they allocate a lot
			}
			bytes, objects := allocated(func() { a.Loop(uses) }, few)
			switch {
			case a.Name == "make":
				if objects != 50*uses || bytes != 6400*uses {
					t.Errorf("%d scopes of make allocate %d bytes in %d objects, want 50 of 128 B for each", uses, bytes, objects)
				}
			case a.Name == "bytes.Buffer":
				if objects < 6*uses {
					t.Errorf("%s: %d new bytes.Buffers allocate %d objects", c.Name, uses, objects)
				}
			case a.Name == "bytebufferpool" && c.Cycle > 1:
				// It has learned to drop what only 4 in 100 bodies need.
				if large := uint64(uses / largeEvery); bytes < large*64<<10 {
					t.Errorf("%s: %d bytes for %d large bodies: they were kept", c.Name, bytes, large)
				}
			case objects > few:
				t.Errorf("%s, %s: %d uses allocate %d bytes in %d objects", c.Name, a.Name, uses, bytes, objects)
			}
		}
	}
}

// allocated returns what f allocates: the least of three or more calls, until it is no more than few
// objects. The counters are those of the whole process, in which other goroutines allocate too, on a
// busy machine during most calls.
func allocated(f func(), few uint64) (bytes, objects uint64) {
	var heap kit.Heap
	bytes, objects = math.MaxUint64, math.MaxUint64
	for i := 0; i < 3 || i < 100 && objects > few; i++ {
		bytesBefore, objectsBefore := heap.Read()
		f()
		bytesAfter, objectsAfter := heap.Read()
		bytes, objects = min(bytes, bytesAfter-bytesBefore), min(objects, objectsAfter-objectsBefore)
	}
	return bytes, objects
}
