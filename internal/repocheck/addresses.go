package repocheck

import "path"

// Danger has an address. Each of these lists is all the places where it may be,
// as a file, a package's directory or a tree of them, and the reason where the
// place does not give it.
var (
	unsafeAddresses = []string{
		"internal/percpu", "internal/magazine", "internal/arena",
		"internal/memory/heap.go",            // knows blocks of the Go heap by address
		"internal/atomics",                   // tells the explorer which object is accessed
		"bytepool.go", "pool.go", "scope.go", // they turn a block into a slice

		"cmd/dewpond/internal/contender/dataptr.go", // a rival pool that keeps data pointers
		"internal/proof/...",                        // drives the engine, whose blocks are unsafe pointers
	}

	// A test may also play a caller who does what the docs forbid. (The tests of
	// the packages above are in them already.)
	unsafeTestAddresses = []string{"."}

	linknameAddresses = []string{"internal/percpu/pin.go"}

	// A walk by frame pointers cannot be written in Go, which may move the stack
	// meanwhile. There is another way without it for every system: see the package.
	assemblyAddresses = []string{"internal/callers"}

	syscallAddresses = []string{
		"internal/arena", "internal/pressure",

		"cmd/dewpond/interrupt_test.go", // Ctrl-C goes to a process group; os/signal reaches one process
	}

	// The counters of a shard are plain words that their owner alone writes: an
	// atomic write is too dear in Get and Put. Others may read them, so:
	rawAtomicAddresses = []string{"internal/magazine"}
	rawAtomicFunctions = []string{"LoadUintptr"}

	// What the explorer of internal/proof runs as it ships, and where that has what the
	// explorer need not see.
	exploredAddresses = []string{
		"internal/admission", "internal/decay", "internal/magazine", "internal/semaphore",
		"internal/memory/blocks.go", "lease.go",
	}
	unexploredAddresses = []string{
		"internal/decay/trims.go",      // a lock of the whole program, of which a scenario has one pool
		"internal/magazine/counter.go", // statistics
		"internal/magazine/shards.go",  // the locks of the portable engine, which it does not run
	}
)

func (s *source) isAt(addresses []string) bool {
	for _, a := range addresses {
		if matches(a, s.dir) || matches(a, path.Clean(s.path)) {
			return true
		}
	}
	return false
}
