package proof

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/anishathalye/porcupine"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/arena"
	"github.com/dewpond/dewpond/internal/memory"
)

var seeds = flag.Int("dewpond.seeds", 160, "how many histories TestPoolsWithSeamsAreLinearizable records")

// seams makes goroutines wait now and then, as a seed says, where a slow path of their
// pool calls its Allocator.
type seams struct {
	seed   uint64
	passed atomic.Uint64
}

func (s *seams) here() {
	switch x := rand.NewPCG(s.seed, s.passed.Add(1)).Uint64(); x % 16 {
	case 0:
		time.Sleep(time.Duration(x>>32%40) * time.Microsecond)
	case 1, 2, 3:
		for range x >> 32 % 4 {
			runtime.Gosched()
		}
	case 4:
		for range x >> 32 % 2000 {
			_ = s.passed.Load()
		}
	}
}

// An idler is what is known of a block: its number, and when it was last given back.
type idler struct {
	number int
	put    time.Duration
}

// A witness numbers the blocks of one pool and records which are released. A block at
// the address of one that was released is another block.
type witness struct {
	*recorder
	mu    sync.Mutex
	known map[*byte]*idler
	count int
	freed []porcupine.Operation
	lost  int // blocks that were released while they were out
}

func (w *witness) got(b []byte) answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.known[unsafe.SliceData(b)]; known != nil {
		return answer{block: known.number}
	}
	w.known[unsafe.SliceData(b)] = &idler{number: w.count}
	w.count++
	return answer{block: -1}
}

func (w *witness) puts(b []byte) (number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.known[unsafe.SliceData(b)]
	if known == nil {
		w.lost++
		known = new(idler)
	}
	known.put = time.Since(w.start)
	return known.number
}

func (w *witness) frees(client int, b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := unsafe.SliceData(b)
	if known := w.known[at]; known != nil {
		w.freed = append(w.freed, porcupine.Operation{
			ClientId: client, Input: call{op: "trim"}, Call: int64(known.put), Output: answer{block: known.number}, Return: int64(time.Since(w.start)),
		})
		delete(w.known, at)
	}
}

// A heapSource allocates blocks of the Go heap, a seamLedger those of an arena; neither
// is quick.
type heapSource struct {
	*seams
	*witness
}

func (s *heapSource) Alloc(size int) ([]byte, error) { s.here(); return make([]byte, size), nil }
func (s *heapSource) Owns([]byte) bool               { s.here(); return true }
func (s *heapSource) Free(b []byte)                  { s.here(); s.frees(-1, b); s.here() }

type seamLedger struct {
	*arena.Arena
	*seams
	*witness
	table bool // the pool finds the states itself
}

func (l *seamLedger) Alloc(size int) ([]byte, error) { l.here(); return l.Arena.Alloc(size) }
func (l *seamLedger) Free(b []byte)                  { l.here(); l.frees(-1, b); l.Arena.Free(b); l.here() }
func (l *seamLedger) Issue(b []byte)                 { l.here(); l.Arena.Issue(b) }
func (l *seamLedger) Blocks() (none memory.Blocks) {
	if l.table {
		return l.Arena.Blocks()
	}
	return none
}

func (l *seamLedger) Return(b []byte) (owned, accepted bool) {
	l.here()
	owned, accepted = l.Arena.Return(b)
	l.here()
	return owned, accepted
}

// A seamed is a kind of pools with seams: how many, with which memory, sharing a Budget
// of how many blocks.
type seamed struct {
	name        string
	pools, room int
	memory      string // heap, table or ledger
	size        int
}

var seamedPools = []seamed{
	{"budget", 1, 3, "heap", 64},
	{"budget, in depots", 1, 3, "heap", 64 << 10},
	{"budget of two", 2, 4, "heap", 64},
	{"off heap", 1, 0, "table", 64},
	{"off heap, by the ledger", 1, 0, "ledger", 4 << 10},
	{"budget of two off heap", 2, 4, "ledger", 64 << 10},
	{"budget off heap", 1, 3, "table", 1024},
}

// runSeamed has goroutines use pools in all ways while GOMAXPROCS changes, and returns
// the history of each pool.
func runSeamed(t *testing.T, kind seamed, goroutines, each int, seed uint64) (histories [][]porcupine.Operation) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	r := &recorder{start: time.Now()}
	slow := &seams{seed: seed}
	var budget *dewpond.Budget
	if kind.room > 0 {
		budget = dewpond.MustBudget("", int64(kind.room*kind.size))
	}
	var pools []*dewpond.BytePool
	var seen []*witness
	for range kind.pools {
		w := &witness{recorder: &recorder{start: r.start, lists: make([][]porcupine.Operation, goroutines)}, known: map[*byte]*idler{}}
		o := dewpond.BytePoolOptions{Classes: []int{kind.size}, Budget: budget, Zero: dewpond.ZeroNever}
		if seed%2 == 0 || budget == nil {
			o.AllocRate = 3
		}
		if kind.memory == "heap" {
			o.Memory = &heapSource{slow, w}
		} else {
			a, err := arena.New(arena.Config{Reserve: 64 << 20})
			if err != nil {
				t.Fatal(err)
			}
			o.Memory = &seamLedger{a, slow, w, kind.memory == "table"}
		}
		p := dewpond.MustBytePool(o)
		defer p.Close()
		pools, seen = append(pools, p), append(seen, w)
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(g)))
			type block struct {
				pool int
				b    []byte
			}
			var held []block
			get := func(op string, at int, how func() ([]byte, error)) {
				seen[at].record(g, call{op: op}, func() answer {
					b, err := how()
					if err != nil {
						return answer{-1, errors.Is(err, dewpond.ErrExhausted)}
					}
					held = append(held, block{at, b})
					return seen[at].got(b)
				})
			}
			put := func() {
				x := held[0]
				held = held[1:]
				number := seen[x.pool].puts(x.b)
				seen[x.pool].record(g, call{"put", number}, func() answer { pools[x.pool].Put(x.b); return answer{block: -1} })
			}
			for range each {
				slow.here()
				at := rng.IntN(len(pools))
				p := pools[at]
				switch what := rng.IntN(24); {
				case len(held) > 0 && (what < 11 || len(held) > 2):
					put()
				case what < 12 && budget == nil:
					get("get", at, func() ([]byte, error) { return p.Get(1), nil })
				case what < 16:
					get("getContext", at, func() ([]byte, error) {
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(200))*time.Microsecond)
						defer cancel()
						return p.GetContext(ctx, 1)
					})
				case what == 16 && g < 2:
					p.Trim()
				case what == 17 && g < 2:
					runtime.GOMAXPROCS(1 + rng.IntN(4))
				default:
					get("tryGet", at, func() ([]byte, error) { return p.TryGet(1) })
				}
				if budget != nil && budget.Used() > budget.Limit() {
					t.Errorf("%d bytes are charged of %d", budget.Used(), budget.Limit())
				}
			}
			for len(held) > 0 {
				put()
			}
		})
	}
	wg.Wait()
	for i, p := range pools {
		p.Trim()
		if s := p.Stats(); s.InUseBytes != 0 || s.Dropped.Foreign+s.Dropped.Double+s.OffHeap.Fallback != 0 {
			t.Errorf("everything was put back, and Stats are %+v", s)
		}
		if seen[i].lost > 0 {
			t.Errorf("%d blocks were let go while they were out", seen[i].lost)
		}
		histories = append(histories, append(seen[i].history(), seen[i].freed...))
	}
	if budget != nil && budget.Used() != 0 {
		t.Errorf("%d bytes are charged and nothing is left", budget.Used())
	}
	return histories
}

// TestPoolsWithSeamsAreLinearizable checks that pools that share a Budget, and pools
// off the heap, are bags to their users as others are (TestPoolsAreLinearizable),
// whatever is slow.
func TestPoolsWithSeamsAreLinearizable(t *testing.T) {
	n := *seeds
	if *long {
		n = 5000
	}
	var operations, refused, freed, given int
	for seed := range n {
		kind := seamedPools[seed%len(seamedPools)]
		for _, history := range runSeamed(t, kind, 4, 40, uint64(seed)) {
			operations += len(history)
			for _, o := range history {
				switch in, out := o.Input.(call), o.Output.(answer); {
				case out.exact:
					refused++
				case in.op == "trim":
					freed++
				case in.op == "getContext" && out.block >= 0:
					given++
				}
			}
			if !porcupine.CheckOperations(poolModel, history) {
				for _, o := range history {
					t.Log(o.ClientId, o.Call, o.Return, o.Input, o.Output)
				}
				t.Fatalf("%s, seed %d: no order of the history is a pool's", kind.name, seed)
			}
		}
		if t.Failed() {
			t.Fatalf("%s, seed %d", kind.name, seed)
		}
	}
	if n >= 50 && (refused == 0 || freed == 0 || given == 0) {
		t.Errorf("%d refusals, %d blocks let go, %d waits or hits of GetContext: part of it was not tested", refused, freed, given)
	}
	t.Logf("%d histories, %d operations, %d of them refused, %d blocks let go", n, operations, refused, freed)
}

// historyMutants are bugs that some history must show.
var historyMutants = []Mutant{
	{
		Name: "budget-checks-then-acts", File: "internal/admission/budget.go",
		Old: "		if b.used.CompareAndSwap(used, used+int64(n)) {\n",
		New: "		if atomics.Yield(); true {\n			b.used.Add(int64(n))\n",
	},
	{
		Name: "refused-without-a-look", File: "internal/admission/gate.go",
		Old: "		case exact:\n",
		New: "		case exact || true:\n",
	},
	{
		Name: "handed-and-kept", File: "internal/admission/queue.go",
		Old: "	g.giveLocked(class, block)\n	return true\n",
		New: "	g.giveLocked(class, block)\n	return false\n",
	},
	{
		Name: "not-issued", File: "bytepool.go",
		Old: "		p.makeReady(b)\n	}\n	return b\n",
		New: "	}\n	return b\n",
	},
}

// TestHistoryMutantsAreFound checks that a pool that breaks a promise is not accepted.
func TestHistoryMutantsAreFound(t *testing.T) {
	startsProcesses(t)
	for _, m := range chosen(t, historyMutants) {
		t.Run(m.Name, func(t *testing.T) {
			out, err := testWith(t, mutate(t, m, "../.."), ".", "TestPoolsWithSeamsAreLinearizable", fmt.Sprint("-dewpond.seeds=", 100**seeds))
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestPoolsWithSeamsAreLinearizable") {
				t.Fatalf("not found: %v\n%s", err, out)
			}
			at := strings.Index(string(out), ", seed ")
			t.Logf("found: %.60s", out[max(0, at-30):])
		})
	}
}

// testWith runs a test of a package, some of whose files are replaced.
func testWith(t *testing.T, replaced map[string]string, pkg, test string, args ...string) (out []byte, err error) {
	t.Helper()
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "some.test")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "test", "-c", "-overlay", file, "-o", program, pkg).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// A mutant that hangs shows its stacks before this process's own timeout.
	timeout := time.Duration(0) // none
	if end, ok := t.Deadline(); ok {
		timeout = time.Until(end) * 9 / 10
	}
	return exec.Command(program, append([]string{"-test.run=^" + test + "$", fmt.Sprint("-test.timeout=", timeout)}, args...)...).CombinedOutput()
}
