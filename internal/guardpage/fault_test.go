package guardpage

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
	"weak"

	"github.com/dewpond/dewpond/misuse"
)

// hides fails unless the pages that are hidden are those of the queue.
func hides(t *testing.T, f *fake, g *Guard) {
	t.Helper()
	n := 0
	for _, r := range g.queue {
		for at := 0; at < r.bytes; at += f.pageSize {
			if n++; !f.hidden[addressOf(r.pages)+uintptr(at)] {
				t.Errorf("byte %d of a block in the queue is not hidden", at)
			}
		}
	}
	if n != len(f.hidden) {
		t.Errorf("%d pages are hidden, and %d are in the queue", len(f.hidden), n)
	}
}

// A block has no access while it is in the queue, and never before or after.
func TestHides(t *testing.T) {
	for _, page := range []int{4 << 10, 16 << 10, 64 << 10} {
		f := newFake(page)
		f.says, f.refuses = "a tracer is attached", syscall.EINVAL // neither has a say here
		g, p := faulting(f.system), &pool{}
		out := g.Get(make([]byte, 100), p)
		hides(t, f, g)
		for i := range 2 * maxBlocks {
			put(t, g, p, 100)
			if i%50 == 0 {
				put(t, g, p, 60_000)
				hides(t, f, g)
			}
		}
		if len(g.queue) == 0 || len(g.queue) > maxBlocks {
			t.Errorf("%d are in the queue", len(g.queue))
		}
		for i, r := range g.queue {
			if i%2 == 0 {
				r.put = r.put.Add(-queueTime)
			}
		}
		half := len(g.queue) / 2
		if g.Sweep(); len(g.queue) != half {
			t.Errorf("%d are left in the queue, want %d", len(g.queue), half)
		}
		hides(t, f, g)
		g.mu.Lock()
		g.turnOff("for a test")
		g.mu.Unlock()
		if hides(t, f, g); len(g.queue) != 0 {
			t.Error("the queue is not empty")
		}
		if own, v, _ := g.Put(out, false, p); own == nil || v != Accepted || len(f.hidden) != 0 || g.Known() != 0 {
			t.Errorf("Put after all has ended: %v, %d known", v, g.Known())
		}
		if len(p.found) != 0 {
			t.Errorf("found %v", p.found)
		}
	}
}

// What a system refuses ends guarding, and leaves nothing behind that faults, but for what it will not
// open: that is nobody's for good.
func TestRefusesToHide(t *testing.T) {
	f := newFake(4096)
	g, p := faulting(f.system), &pool{}
	put(t, g, p, 100)
	out := g.Get(make([]byte, 9000), p)
	g.sys.hide = func(pages []byte) error {
		f.hide(pages[:4096]) // a part of it may be done before it fails
		return syscall.ENOMEM
	}
	if own, v, _ := g.Put(out, false, p); own == nil || v != Accepted {
		t.Errorf("Put: %v", v)
	}
	want := "the system does not take the access to pages away: " + syscall.ENOMEM.Error()
	if g.Off() != want || g.Due() || len(f.hidden) != 0 || g.Known() != 0 || len(g.shut) != 0 {
		t.Errorf("off: %q; %d pages hidden, %d known", g.Off(), len(f.hidden), g.Known())
	}
}

func TestRefusesToOpen(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, g *Guard, p *pool){
		"by age": func(_ *testing.T, g *Guard, _ *pool) {
			for _, r := range g.queue[1:] {
				r.put = r.put.Add(-queueTime)
			}
			g.Sweep()
		},
		"for others": func(t *testing.T, g *Guard, p *pool) {
			block := g.Get(make([]byte, 60_000), p)
			for g.Off() == "" {
				g.Put(block, false, p)
				block = g.Get(make([]byte, 60_000), p)
			}
		},
		"all": func(_ *testing.T, g *Guard, _ *pool) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.dropAll()
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(4096)
			g, p := faulting(f.system), &pool{}
			var watch []weak.Pointer[byte]
			for range 3 {
				watch = append(watch, weak.Make(&put(t, g, p, 100)[0]))
			}
			refused := addressOf(g.queue[1].pages)
			g.sys.open = func(pages []byte) error {
				if addressOf(pages) == refused {
					return syscall.ENOMEM
				}
				return f.open(pages)
			}
			leave(t, g, p)
			if want := "the system does not give the access to pages back: " + syscall.ENOMEM.Error(); g.Off() != want {
				t.Errorf("off: %q, want %q", g.Off(), want)
			}
			if g.Get(make([]byte, 100), p) != nil || g.Known() != 0 || len(g.queue) != 0 || g.idle != (amount{}) {
				t.Errorf("%d known, %+v in the queue", g.Known(), g.idle)
			}
			if len(f.hidden) != 1 || !f.hidden[refused] {
				t.Errorf("hidden: %v", f.hidden)
			}
			for watch[0].Value() != nil || watch[2].Value() != nil { // else the test runs into its timeout
				runtime.GC()
			}
			if watch[1].Value() == nil {
				t.Error("memory that cannot be touched is the collector's")
			}
			runtime.KeepAlive(g)
		})
	}
}

// Who faults is told whose block it is while the block is in the queue.
func TestFaultIsExplained(t *testing.T) {
	f := newFake(4096)
	g, p := faulting(f.system), &pool{}
	out := g.Get(make([]byte, 100), p)
	block := put(t, g, p, 9000)
	owner, v := g.Fault(addressOf(block) + 5000)
	if owner != Owner(p) || v == nil || v.Kind != misuse.UseAfterPut || v.Offset != 5000 || v.Size != 9000 || v.Got == nil || v.Put == nil || v.Offence == nil {
		t.Errorf("%v, %+v", owner, v)
	}
	for _, at := range []uintptr{0, addressOf(out), addressOf(block) + 9000, addressOf(block) - Marked, ^uintptr(0)} {
		if _, v := g.Fault(at); v != nil {
			t.Errorf("at %#x: %v", at, v)
		}
	}
	g.dropAll()
	if _, v := g.Fault(addressOf(block)); v != nil {
		t.Errorf("after it has left the queue: %v", v)
	}
}

// faults reports where f faults, if it does.
func faults(f func()) (at uintptr, does bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if fault, ok := r.(interface{ Addr() uintptr }); ok {
			at, does = fault.Addr(), true
		} else if r != nil {
			panic(r)
		}
	}()
	f()
	return 0, false
}

// This system hides pages of the Go heap, whatever the collector does meanwhile, and what has left the
// queue is memory as any other.
func TestSystemHides(t *testing.T) {
	s, why := thisSystem()
	if why != "" || sanitized != "" {
		t.Skip(why, sanitized)
	}
	s.live = func() uint64 { return 1 << 40 } // so that all of them wait
	g, p := faulting(s), &pool{}
	g.askLive()
	sizes := []int{1, 4000, 5000, 12_000, 30_000, MaxSize}
	for range 5 {
		var idle [][]byte
		for range 4 {
			for _, size := range sizes {
				idle = append(idle, put(t, g, p, size))
			}
		}
		for range 3 { // it sweeps, scavenges, and serves what is swept and scavenged
			debug.FreeOSMemory()
			for _, size := range sizes {
				runtime.KeepAlive(bytes.Repeat([]byte{1}, size))
			}
		}
		for _, b := range idle {
			for _, i := range []int{0, len(b) / 2, len(b) - 1} {
				if at, does := faults(func() { sink += b[i] }); !does || at != addressOf(b)+uintptr(i) {
					t.Errorf("to read byte %d of %d: %v, at %#x", i, len(b), does, at)
				}
			}
		}
		for _, r := range g.queue {
			r.put = time.Now().Add(-queueTime)
		}
		g.Sweep()
		for _, b := range idle {
			if _, does := faults(func() { clear(b) }); does {
				t.Fatalf("%d bytes fault that have left the queue", len(b))
			}
		}
	}
	for range 10 { // what they were is handed out again, and written to
		runtime.GC()
		for _, size := range sizes {
			for range 100 {
				runtime.KeepAlive(bytes.Repeat([]byte{1}, size+Marked))
			}
		}
	}
}

// To write the whole heap to a file does not fault.
func TestHeapDumpOfHidden(t *testing.T) {
	s, why := thisSystem()
	if why != "" || sanitized != "" {
		t.Skip(why, sanitized)
	}
	g, p := faulting(s), &pool{}
	for _, size := range []int{1, 4000, 9000, MaxSize} {
		put(t, g, p, size)
	}
	file, err := os.Create(t.TempDir() + "/heap")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	debug.WriteHeapDump(file.Fd())
	if g.Off() != "" || g.Known() != 4 {
		t.Errorf("off: %q, %d known", g.Off(), g.Known())
	}
}

var sink byte
