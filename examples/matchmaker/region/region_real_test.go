package region

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
)

func TestMain(m *testing.M) {
	realserver.RunMonitor()
	Silence()
	os.Exit(m.Run())
}

// real returns regions on servers of their own, each with one replica, or skips the test, as
// with -short. Nothing is down because the machine is slow.
func real(t *testing.T, every time.Duration, names ...string) (nodes []Nodes, open func(Options) *Map) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	s, err := realserver.Start(realserver.Spec{Regions: names, Replicas: 1})
	if errors.Is(err, realserver.ErrMissing) {
		t.Skip(err)
	}
	if err == nil {
		t.Cleanup(func() { s.Close() })
		secret = s.RedisSecret
		nodes, err = Parse(s.Redis)
	}
	if err != nil {
		t.Fatal(err)
	}
	return nodes, func(o Options) *Map {
		o.Timeout, o.ProbeEvery, o.Password = time.Minute, every, s.RedisSecret
		m, err := New(nodes, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
}

// secret is the password of the servers that the test which runs has started.
var secret string

// do sends a node a command of its own.
func do(t *testing.T, address string, args ...any) string {
	t.Helper()
	c := client(address, Options{MaxActive: 1, MaxIdle: 1, Timeout: time.Minute, Password: secret})
	defer c.Close()
	v, err := c.Do(t.Context(), args...).Text()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}

// caughtUp probes until every replica is read and lacks nothing.
func caughtUp(t *testing.T, m *Map) {
	t.Helper()
	for all := false; !all; {
		m.Probe(t.Context())
		all = true
		for _, r := range m.regions {
			r.ledger.mu.Lock()
			all = all && r.ledger.followers[0].inUse() && r.ledger.followers[0].has == r.ledger.probe
			r.ledger.mu.Unlock()
		}
	}
}

// writeAndRead has several goroutines write keys of their own and read them, at once and later,
// and returns how many writes and stale reads there were.
func writeAndRead(t *testing.T, r *group, writes int) (stale int64) {
	const (
		writers = 4
		keys    = 64 // of each
	)
	var (
		found   atomic.Int64
		writing sync.WaitGroup
	)
	for w := range writers {
		writing.Go(func() {
			var last [keys]string
			read := func(i int) {
				v, err := r.get(t.Context(), fmt.Sprintf("own:%d:%d", w, i))
				if err != nil {
					t.Error(err)
				}
				if string(v) != last[i] {
					found.Add(1)
				}
			}
			for n := range writes / writers {
				i := n % keys
				last[i] = fmt.Sprint(n)
				if err := r.set(t.Context(), fmt.Sprintf("own:%d:%d", w, i), []byte(last[i]), time.Hour); err != nil {
					t.Error(err)
					return
				}
				read(i)
				read((n + keys - 1<<(n%6)) % keys) // written 1 to 32 writes ago
			}
		})
	}
	writing.Wait()
	return found.Load()
}

// Of 20,000 writes that are read at once and again a little later, no read is stale.
func TestReadYourWrites(t *testing.T) {
	writes := 20_000
	_, open := real(t, time.Millisecond, "a")
	m := open(Options{})
	r := m.of("a")
	caughtUp(t, m)
	if stale := writeAndRead(t, r, writes); stale > 0 {
		t.Errorf("%d stale reads of %d", stale, 2*writes)
	}
	during := r.reads[fromReplica].Load()
	caughtUp(t, m)
	if _, err := r.get(t.Context(), "own:0:0"); err != nil || r.reads[fromReplica].Load() <= during || r.reads[fromPrimaryForOwn].Load() == 0 {
		t.Errorf("%v; a replica has answered %d reads and then %d, the primary %d", err, during, r.reads[fromReplica].Load(), r.reads[fromPrimaryForOwn].Load())
	}
	t.Logf("with the rule: no read of %d is stale; a replica has answered %d", 2*writes, during)
	control := open(Options{blind: true})
	stale := writeAndRead(t, control.of("a"), writes/10) // how many these are is chance
	t.Logf("the control, without the rule: %d reads of %d are stale", stale, 2*writes/10)
}

// A replica that gets nothing any more is not read for what was written since, nor for anything
// once a probe has noticed. Without the rule it is.
func TestReplicaIsCutOff(t *testing.T) {
	nodes, open := real(t, time.Hour, "a")
	m, control := open(Options{}), open(Options{blind: true})
	expect := func(what string, m *Map, key, want string, from int) {
		t.Helper()
		r := m.of("a")
		before := r.reads[from].Load()
		v, err := r.get(t.Context(), key)
		if err != nil || string(v) != want || r.reads[from].Load() != before+1 {
			t.Errorf("%s: %q, %v; want %q", what, v, err, want)
		}
	}
	set := func(key, value string) {
		t.Helper()
		if err := m.Set(t.Context(), "a", key, []byte(value), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	set("x", "1")
	set("y", "1")
	caughtUp(t, m)
	expect("both have it", m, "x", "1", fromReplica)
	do(t, nodes[0].Replicas[0], "REPLICAOF", "NO", "ONE")
	set("x", "2")
	expect("the control", control, "x", "1", fromReplica)
	expect("what was written", m, "x", "2", fromPrimaryForOwn)
	expect("what was not", m, "y", "1", fromReplica)
	m.Probe(t.Context())
	expect("what was written, after a probe", m, "x", "2", fromPrimary)
	expect("what was not, after a probe", m, "y", "1", fromPrimary)
	host, port, _ := strings.Cut(nodes[0].Primary, ":")
	do(t, nodes[0].Replicas[0], "REPLICAOF", host, port)
	caughtUp(t, m)
	expect("it is back", m, "x", "2", fromReplica)
}

// calls is how often clients, and not a primary, have had a node do a command.
func calls(t *testing.T, address, command string) (n int) {
	t.Helper()
	_, after, ok := strings.Cut(do(t, address, "INFO", "commandstats"), "cmdstat_"+command+":calls=")
	if ok {
		fmt.Sscan(after, &n)
	}
	return n
}

// Writes go to the primary of the region, and reads to its replica: the nodes' own statistics say
// so. An unknown region is the fallback's.
func TestNodesByTheirStatistics(t *testing.T) {
	nodes, open := real(t, time.Hour, "a", "b")
	m := open(Options{})
	for range 5 {
		if err := m.Set(t.Context(), "b", "x", []byte("1"), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := m.Set(t.Context(), "mars", "x", []byte("1"), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	caughtUp(t, m)
	for range 7 {
		if _, err := m.Get(t.Context(), "b", "x"); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []struct{ sets, reads, replica int }{{3, 0, 0}, {5, 0, 7}} {
		n := nodes[i]
		if sets, reads, replica := calls(t, n.Primary, "set"), calls(t, n.Primary, "get"), calls(t, n.Replicas[0], "get"); sets != want.sets || reads != want.reads || replica != want.replica {
			t.Errorf("region %s: the primary has %d sets and %d gets, the replica %d gets; want %+v", n.Name, sets, reads, replica, want)
		}
	}
	if m.Unknown() != 3 {
		t.Errorf("%d of an unknown region, want 3", m.Unknown())
	}
}

// Servers that end, one after the other: the replica first, then the primary. The other region
// does not notice.
func TestServersEnd(t *testing.T) {
	nodes, open := real(t, time.Hour, "a", "b")
	m := open(Options{})
	for _, name := range []string{"a", "b"} {
		if err := m.Set(t.Context(), name, "x", []byte(name), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	caughtUp(t, m)
	reads := func(name, want string) {
		t.Helper()
		if v, err := m.Get(t.Context(), name, "x"); err != nil || string(v) != want {
			t.Errorf("region %s: %q, %v", name, v, err)
		}
	}
	end := func(address string) {
		t.Helper()
		c := client(address, Options{MaxActive: 1, MaxIdle: 1, Timeout: time.Minute, Password: secret})
		defer c.Close()
		c.Do(t.Context(), "SHUTDOWN", "NOSAVE") // its answer is that the connection ends
		for c.Ping(t.Context()).Err() == nil {
		}
	}
	end(nodes[0].Replicas[0])
	for range mostFailures + 1 {
		reads("a", "a")
	}
	m.Probe(t.Context())
	reads("a", "a")
	end(nodes[0].Primary)
	m.Probe(t.Context())
	if err := m.Set(t.Context(), "a", "x", nil, time.Hour); !errors.Is(err, ErrDown) || !strings.Contains(err.Error(), "region a") {
		t.Errorf("a write: %v", err)
	}
	for range 5 {
		reads("b", "b")
		if err := m.Set(t.Context(), "b", "y", nil, time.Hour); err != nil {
			t.Error(err)
		}
	}
	m.Down(func(region, node string, down bool, refused, changes uint64) {
		if down != (region == "a") || region == "b" && (refused > 0 || changes > 0) {
			t.Errorf("%s of region %s: down %v, %d refused, %d changes", node, region, down, refused, changes)
		}
	})
}
