package repocheck

import "testing"

// What is dangerous is found wherever it does not live.

func TestUnsafe(t *testing.T) {
	breaks(t, `
-- buffer.go --
package dewpond

import "unsafe"
-- internal/sizeclass/table_test.go --
package sizeclass

import "unsafe"
-- cmd/dewpond/internal/contender/ring.go --
package contender

import _ "unsafe"
-- cmd/dewpond/internal/contender/dataptr.go --
package contender

import "unsafe" // allowed
-- instruments/proof/explore/world.go --
package main

import "unsafe" // allowed
`,
		"buffer.go:3: unsafe:",
		"internal/sizeclass/table_test.go:3: unsafe:",
		"cmd/dewpond/internal/contender/ring.go:3: unsafe:",
	)
}

func TestLinkname(t *testing.T) {
	breaks(t, `
-- internal/percpu/nanotime.go --
package percpu

import _ "unsafe"

//go:linkname nanotime runtime.nanotime
func nanotime() int64

// A comment may speak of //go:linkname.
`,
		"internal/percpu/nanotime.go:5: linkname:",
	)
}

func TestAssembly(t *testing.T) {
	breaks(t, `
-- internal/callers/walk_amd64.s --
TEXT walk(SB) // allowed
-- internal/percpu/pin_amd64.s --
TEXT runtime·procPin(SB)
-- internal/magazine/engine.syso --
x
-- internal/callers/walk.c --
x
-- internal/arena/testdata/crash.c --
x
`,
		"internal/percpu/pin_amd64.s: assembly: .s:",
		"internal/magazine/engine.syso: assembly: .syso:",
		"internal/callers/walk.c: assembly: .c:",
	)
}

func TestSyscall(t *testing.T) {
	breaks(t, `
-- offheap/map.go --
package offheap

import "syscall"
-- cmd/dewpond/signal.go --
package main

import "golang.org/x/sys/unix"
-- internal/check/guard_windows.go --
package check

import "C"
-- cmd/dewpond/bench.go --
package main

import "syscall"
-- cmd/dewpond/interrupt_test.go --
package main

import "syscall" // allowed
-- internal/arena/arena_linux.go --
package arena

import "syscall" // allowed
`,
		"offheap/map.go:3: syscall: syscall:",
		"cmd/dewpond/signal.go:3: syscall: golang.org/x/sys/unix:",
		"internal/check/guard_windows.go:3: syscall: C:",
		"cmd/dewpond/bench.go:3: syscall: syscall:",
	)
}

func TestRawAtomics(t *testing.T) {
	breaks(t, `
-- stats.go --
package dewpond

import "sync/atomic"

var n uint64
var m atomic.Uint64

func count() { atomic.AddUint64(&n, 1); m.Add(1) }
-- internal/magazine/write.go --
package magazine

import a "sync/atomic"

func write(p *uintptr) { a.StoreUintptr(p, a.LoadUintptr(p)) }
-- internal/sizeclass/read.go --
package sizeclass

import "sync/atomic"

func read(p *uintptr) uintptr { return atomic.LoadUintptr(p) }
-- internal/decay/dot.go --
package decay

import . "sync/atomic"
`,
		"stats.go:8: atomic: atomic.AddUint64",
		"internal/magazine/write.go:5: atomic: atomic.StoreUintptr",
		"internal/sizeclass/read.go:5: atomic: atomic.LoadUintptr",
		"internal/decay/dot.go: atomic: sync/atomic is imported with a dot",
	)
}

func TestUnseenByTheExplorer(t *testing.T) {
	breaks(t, `
-- lease.go --
package dewpond

import a "sync/atomic"

var word a.Uint64
-- internal/semaphore/semaphore.go --
package semaphore

import (
	"sync"
	"time"
)

var mu sync.Mutex

func later(f func()) { time.AfterFunc(time.Second, f) }
-- internal/semaphore/semaphore_test.go --
package semaphore

import "sync"

var mu sync.Mutex // allowed, in a test
-- internal/magazine/shards.go --
package magazine

import "sync"

var mu sync.Mutex // allowed, for the portable engine
-- internal/magazine/counter.go --
package magazine

import "sync/atomic"

func read(p *uintptr) uintptr { return atomic.LoadUintptr(p) } // allowed
-- stats.go --
package dewpond

import "sync"

var mu sync.Mutex // allowed: nobody explores it
`,
		"lease.go:5: explored: the explorer does not see atomic.Uint64",
		"internal/semaphore/semaphore.go:4: explored: the explorer does not see package sync",
		"internal/semaphore/semaphore.go:10: explored: the explorer does not see time.AfterFunc",
	)
}

func TestFinalizer(t *testing.T) {
	breaks(t, `
-- registry.go --
package dewpond

import rt "runtime"

func watch(p *int) { rt.SetFinalizer(p, nil); rt.AddCleanup(p, nil, 0) }
-- internal/memory/heap.go --
package memory

import "runtime"

func hold(p *byte) { runtime.SetFinalizer(p, nil) } // allowed
`,
		"registry.go:5: finalizer:",
	)
}

func TestGoroutineAtInit(t *testing.T) {
	breaks(t, `
-- init.go --
package dewpond

func init() {
	go func() {}()
}
-- indirect.go --
package dewpond

func init() {
	start()
}
-- elsewhere.go --
package dewpond

func start() { deeper() }
func deeper() { start(); wg.Go(work) }
-- variable.go --
package dewpond

var timer = time.AfterFunc(0, nil)
var called = func() int { go work(); return 1 }()
var kept = func() { go work() } // allowed: a caller of it starts the goroutine
-- internal/percpu/pin_tag.go --
package percpu

func init() { go func() {}() } // allowed
`,
		"init.go:3: init:",
		"indirect.go:3: init:",
		"variable.go:3: init:",
		"variable.go:4: init:",
	)
}

// Go 1.28 is not available for a test, so the test computes what it would build.
func TestTwins(t *testing.T) {
	for name, tt := range map[string]struct{ files, want string }{
		"open to the next Go": {`
-- internal/percpu/pin.go --
//go:build gc && go1.24 && !race && !dewpond_portable && !dewpond_explore

package percpu

const Pinned = true
-- internal/percpu/portable.go --
//go:build (!gc || !go1.24 || race || dewpond_portable) && !dewpond_explore

package percpu

const Pinned = false
`,
			"internal/percpu/pin.go: twins: is built for Go 1.28 gc:"},
		"not asked for by its tag": {`
-- internal/percpu/pin.go --
//go:build gc && go1.24 && !go1.28 && !race && !dewpond_portable && !dewpond_explore

package percpu

const Pinned = true
-- internal/percpu/portable.go --
//go:build (!gc || !go1.24 || go1.28 || race || dewpond_portable) && !dewpond_explore

package percpu

const Pinned = false
`,
			"internal/percpu/portable.go: twins: is built for Go 1.28 gc dewpond_pinned:"},
		"with locks asked for, and pinned": {`
-- internal/percpu/pin.go --
//go:build gc && go1.24 && (!go1.28 && !dewpond_portable || dewpond_pinned) && !race && !dewpond_explore

package percpu

const Pinned = true
-- internal/percpu/portable.go --
//go:build (!gc || !go1.24 || (go1.28 || dewpond_portable) && !dewpond_pinned || race) && !dewpond_explore

package percpu

const Pinned = false
`,
			"internal/percpu/pin.go: twins: is built for Go 1.24 gc dewpond_pinned dewpond_portable:"},
		"two at once": {`
-- internal/percpu/portable.go --
//go:build !dewpond_explore

package percpu

const Pinned = false
`,
			"internal/percpu: twins: Go 1.24 gc builds 2 engines"},
		"none": {`
-- internal/percpu/explore.go --
package percpu
`,
			"internal/percpu: twins: Go 1.24 gc dewpond_explore builds 0 engines"},
		"always": {`
-- internal/percpu/explore.go --
package percpu

const Pinned = true
`,
			"internal/percpu/explore.go: twins: declares Pinned, so it must say when it is built"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Check(tree(skeleton + tt.files))
			if err != nil {
				t.Fatal(err)
			}
			if !begins(found, tt.want) {
				t.Errorf("found %v, want %s", found, tt.want)
			}
		})
	}
}
