package region

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
)

// A played region has stand-ins for nodes, and what its replicas have the test says: a stand-in
// replicates nothing by itself.
type played struct {
	*group
	m       *Map
	primary *miniredis.Miniredis
	replica []*miniredis.Miniredis
	west    *miniredis.Miniredis // another region
	offset  []int64              // of the replicas; the primary's is the first
}

func play(t *testing.T, replicas int, o Options) *played {
	t.Helper()
	p := &played{primary: miniredis.RunT(t), west: miniredis.RunT(t), offset: make([]int64, 1+replicas)}
	nodes := Nodes{Name: "cn-east", Primary: p.primary.Addr()}
	for range replicas {
		r := miniredis.RunT(t)
		p.replica = append(p.replica, r)
		nodes.Replicas = append(nodes.Replicas, r.Addr())
	}
	o.Timeout, o.ProbeEvery = time.Minute, time.Hour
	m, err := New([]Nodes{nodes, {Name: "us-west", Primary: p.west.Addr()}}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	p.m, p.group = m, m.of("cn-east")
	i := 0
	for n := range p.nodes {
		of := &p.offset[i]
		n.stands = func(ctx context.Context) (position, error) {
			return position{"a", *of, true}, n.prober.Ping(ctx).Err()
		}
		i++
	}
	return p
}

// follow brings a replica to where the primary is, and has that known.
func (p *played) follow(t *testing.T, replica int) {
	t.Helper()
	for _, key := range p.primary.Keys() {
		v, err := p.primary.Get(key)
		if err != nil {
			t.Fatal(err)
		}
		p.replica[replica].Set(key, v)
	}
	p.offset[1+replica] = p.offset[0]
	p.m.Probe(t.Context())
}

func (p *played) set(t *testing.T, key, value string) {
	t.Helper()
	if err := p.group.set(t.Context(), key, []byte(value), time.Hour); err != nil {
		t.Fatal(err)
	}
	p.offset[0]++
}

// expect reads a key.
func (p *played) expect(t *testing.T, what, key, want string) {
	t.Helper()
	if v, err := p.group.get(t.Context(), key); err != nil || string(v) != want {
		t.Errorf("%s: %q, %v; want %q", what, v, err, want)
	}
}

// from returns who answered the reads since the last call.
func (p *played) from() (replica, own, primary uint64) {
	return p.reads[fromReplica].Swap(0), p.reads[fromPrimaryForOwn].Swap(0), p.reads[fromPrimary].Swap(0)
}

func (p *played) expectFrom(t *testing.T, what string, replica, own, primary uint64) {
	t.Helper()
	if r, o, m := p.from(); r != replica || o != own || m != primary {
		t.Errorf("%s: a replica has answered %d reads, the primary %d for what was written and %d else; want %d, %d and %d", what, r, o, m, replica, own, primary)
	}
}

// Who has written reads that, from the primary until a replica has it. Without the rule, what the
// replica has is read, however old it is.
func TestReadYourWritesOnStandIns(t *testing.T) {
	for _, blind := range []bool{false, true} {
		p := play(t, 1, Options{blind: blind})
		p.set(t, "x", "1")
		p.set(t, "y", "1")
		p.follow(t, 0)
		p.expect(t, "the replica has it", "x", "1")
		p.expectFrom(t, "it has caught up", 1, 0, 0)
		p.set(t, "x", "2")
		if blind {
			p.expect(t, "the control, without the rule", "x", "1")
			continue
		}
		p.expect(t, "right after the write", "x", "2")
		p.expect(t, "another key", "y", "1")
		p.expectFrom(t, "after a write", 1, 1, 0)
		p.m.Probe(t.Context())
		p.expect(t, "the replica has not come so far", "x", "2")
		p.expectFrom(t, "after a probe", 0, 1, 0)
		p.m.Replicas(func(_, _ string, read bool, lag int64) {
			if !read || lag != 1 {
				t.Errorf("it is read %v, and lags %d", read, lag)
			}
		})
		p.follow(t, 0)
		p.expect(t, "it has caught up", "x", "2")
		p.expectFrom(t, "it has caught up again", 1, 0, 0)
	}
}

// Before the first probe nobody knows what a replica has.
func TestReplicaIsNotReadUnseen(t *testing.T) {
	p := play(t, 1, Options{})
	p.primary.Set("x", "of another process")
	p.expect(t, "before the first probe", "x", "of another process")
	p.expectFrom(t, "before the first probe", 0, 0, 1)
	p.m.Replicas(func(_, _ string, read bool, lag int64) {
		if read || lag >= 0 {
			t.Errorf("it is read %v, and lags %d", read, lag)
		}
	})
}

// A replica that is down: reads go to the next, then to the primary; and back when it is there.
func TestReplicaDown(t *testing.T) {
	for _, health := range []string{liveness.Both, liveness.FastFail, liveness.Ping, liveness.Off} {
		t.Run(health, func(t *testing.T) {
			p := play(t, 2, Options{Health: health})
			p.set(t, "x", "1")
			p.follow(t, 0)
			p.follow(t, 1)
			before := []int{p.replica[0].CommandCount(), p.replica[1].CommandCount()}
			for range 10 {
				p.expect(t, "both are there", "x", "1")
			}
			p.expectFrom(t, "both are there", 10, 0, 0)
			for i, r := range p.replica {
				if n := r.CommandCount() - before[i]; n < 5 { // it greets on a new connection
					t.Errorf("replica %d has got %d commands, want half the reads", i, n)
				}
			}
			p.replica[0].SetError("LOADING")
			for range 10 {
				p.expect(t, "one is down", "x", "1")
			}
			p.expectFrom(t, "one is down", 10, 0, 0)
			p.m.Probe(t.Context())
			commands := p.replica[0].CommandCount()
			for range 10 {
				p.expect(t, "one is known to be down", "x", "1")
			}
			if p.replica[0].CommandCount() > commands {
				t.Error("it is asked all the same")
			}
			p.replica[1].SetError("LOADING")
			for range 10 {
				p.expect(t, "both are down", "x", "1")
			}
			p.expectFrom(t, "both are down", 10, 0, 10)
			p.replica[0].SetError("")
			p.replica[1].SetError("")
			for n := range p.nodes {
				n.tried.Store(0) // as if it were long ago: a command may try
			}
			for range 3 { // what no probe brings back, a command does
				p.expect(t, "they are back", "x", "1")
				p.m.Probe(t.Context())
			}
			p.from()
			p.expect(t, "they are back", "x", "1")
			p.expectFrom(t, "they are back", 1, 0, 0)
		})
	}
}

// A primary that is down: writes fail at once and name the region, replicas are read, and nobody
// is promoted. Other regions do not notice.
func TestPrimaryDown(t *testing.T) {
	p := play(t, 1, Options{})
	p.set(t, "x", "1")
	p.set(t, "y", "1")
	p.follow(t, 0)
	p.set(t, "y", "2") // and the replica does not get it
	p.primary.SetError("LOADING")
	for range mostFailures {
		if err := p.group.set(t.Context(), "z", []byte("1"), time.Hour); err == nil || errors.Is(err, ErrDown) {
			t.Fatal(err)
		}
	}
	p.m.Probe(t.Context())
	commands := p.primary.CommandCount()
	for range 10 {
		if err := p.group.set(t.Context(), "z", []byte("1"), time.Hour); !errors.Is(err, ErrDown) || !strings.Contains(err.Error(), "cn-east") {
			t.Errorf("a write: %v", err)
		}
		if _, err := p.group.get(t.Context(), "y"); !errors.Is(err, ErrDown) {
			t.Errorf("what only the primary has: %v", err)
		}
		p.expect(t, "what the replica has", "x", "1")
		west := p.m.of("us-west")
		if err := west.set(t.Context(), "x", []byte("w"), time.Hour); err != nil {
			t.Errorf("the other region: %v", err)
		}
		if v, err := west.get(t.Context(), "x"); err != nil || string(v) != "w" {
			t.Errorf("the other region: %q, %v", v, err)
		}
	}
	if n := p.primary.CommandCount() - commands; n > 0 {
		t.Errorf("%d commands were sent to a primary that is down", n)
	}
	if p.replica[0].Exists("z") {
		t.Error("a replica was written")
	}
	p.m.Down(func(region, node string, down bool, refused, changes uint64) {
		if node != p.primary.Addr() && (down || refused > 0 || changes > 0) {
			t.Errorf("%s: down %v, %d refused, %d changes", region, down, refused, changes)
		}
	})
	p.primary.SetError("")
	p.m.Probe(t.Context())
	p.set(t, "z", "2")
	p.expect(t, "the primary is back", "z", "2")
	p.expect(t, "the primary is back", "y", "2")
}

// A write that fails leaves what it was to replace. That is not read any more, not even when the
// primary is back.
func TestFailedWriteLeavesNothingOld(t *testing.T) {
	for _, replicas := range []int{0, 1} {
		p := play(t, replicas, Options{})
		p.set(t, "x", "old")
		for i := range replicas {
			p.follow(t, i)
		}
		p.primary.SetError("LOADING")
		if err := p.group.set(t.Context(), "x", []byte("new"), time.Hour); err == nil {
			t.Fatal("the write did not fail")
		}
		if v, err := p.group.get(t.Context(), "x"); v != nil || err == nil {
			t.Errorf("the primary is down: %q, %v", v, err)
		}
		p.primary.SetError("")
		p.expect(t, "the primary is back", "x", "")
		p.expect(t, "the primary is back, again", "x", "")
		if p.primary.Exists("x") {
			t.Error("the old value is left")
		}
		p.set(t, "x", "newer")
		p.expect(t, "a later write", "x", "newer")
	}
}

// A reader that finds nothing fills in what it has found elsewhere, unless somebody was faster.
func TestFill(t *testing.T) {
	p := play(t, 0, Options{})
	for _, tt := range []struct{ fill, want string }{{"1", "1"}, {"2", "1"}} {
		if err := p.group.fill(t.Context(), "x", []byte(tt.fill), time.Hour); err != nil {
			t.Error(err)
		}
		p.expect(t, tt.fill, "x", tt.want)
	}
	if life := p.primary.TTL("x"); life != time.Hour {
		t.Errorf("it lives for %v", life)
	}
	p.expectFrom(t, "without a replica", 0, 0, 2)
}

// However many ask at once, there are no more connections than MaxActive, and one for probes.
// Waiting for one is no sign that the node is down.
func TestMaxActive(t *testing.T) {
	const most = 2
	s := miniredis.RunT(t)
	m, err := New([]Nodes{{Name: "a", Primary: s.Addr()}}, Options{MaxActive: most, Timeout: time.Minute, ProbeEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var (
		arrived = make(chan struct{}, 100)
		goOn    = make(chan struct{})
		done    = make(chan error)
	)
	s.Server().SetPreHook(func(_ *server.Peer, command string, _ ...string) bool {
		if strings.EqualFold(command, "GET") {
			arrived <- struct{}{}
			<-goOn
		}
		return false
	})
	for range 10 {
		go func() {
			_, err := m.Get(t.Context(), "a", "x")
			done <- err
		}()
	}
	for range most {
		<-arrived
	}
	m.Probe(t.Context()) // all are lent
	if d, _ := down(m); d {
		t.Error("it is down because its connections are in use")
	}
	close(goOn)
	for range 10 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := s.TotalConnectionCount(); n != most+1 {
		t.Errorf("%d connections, want %d", n, most+1)
	}
}
