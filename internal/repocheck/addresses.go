package repocheck

import "path"

// Dangerous code has addresses. Each of these lists has all the places where one kind
// of it may be: a file, a package's directory or a tree of them, and the reason if the
// place does not explain itself.
var (
	unsafeAddresses = []string{
		"internal/percpu", "internal/magazine", "internal/arena",
		"internal/memory/heap.go",                        // knows blocks of the Go heap by address
		"internal/memory/blocks.go",                      // finds a state by arithmetic, in few words
		"internal/atomics",                               // tells the explorer which object is accessed
		"bytepool.go", "lease.go", "pool.go", "scope.go", // they turn a block into a slice
		"slicepool.go",       // so does this, for any T
		"internal/guardpage", // asks the kernel about pages, and finds a block's first
		"dewsync/word.go",    // takes an interface apart into its two words

		"cmd/dewpond/internal/contender/dataptr.go", // a rival pool that keeps data pointers
		"examples/matchmaker/matchmakerpb",          // protoc-gen-go writes it
		"instruments/proof/...",                     // drives the engine, whose blocks are unsafe pointers
	}

	// A test may also play a caller that does what the docs forbid. (The lists above
	// include the tests of their packages.)
	unsafeTestAddresses = []string{".", "dewsync"}

	linknameAddresses = []string{"internal/percpu/pin.go"}

	// An import starts no goroutine but here.
	startAddresses = []string{
		"internal/percpu/pin_tag.go", // with the tag dewpond_pinned, and it has ended when the import is over
	}

	// A walk by frame pointers cannot be written in Go, which may move the stack
	// meanwhile. The package has another implementation for every system.
	assemblyAddresses = []string{"internal/callers"}

	syscallAddresses = []string{
		"internal/arena", "internal/pressure", "internal/guardpage",

		"instruments/load/nanosleep_linux.go", // waits more exactly than the runtime
		"instruments/load/peek_linux.go",      // net cannot peek
		"cmd/dewpond/interrupt_test.go",       // Ctrl-C goes to a process group; os/signal reaches one process
		"instruments/kit/interrupt",           // os has no name for SIGTERM
		"instruments/kit/process_linux.go",    // /proc has processor time in steps of 10 ms
		"examples/http/main.go",               // os has no name for SIGTERM

		"examples/matchmaker/liveness/peek_linux.go", // net cannot peek

		"instruments/lab/internal/programs/group_unix.go", // ends the Go tool with its compilers
	}

	// The counters of a shard are plain words that only their owner writes, and so are those that
	// say how full it is: an atomic write is too expensive in Get and Put. Other goroutines read
	// them by these functions.
	rawAtomicAddresses = []string{"internal/magazine"}
	rawAtomicFunctions = []string{"LoadUintptr"}

	// These are the code that the explorer of instruments/proof runs as it ships, and the
	// files in it whose synchronization the explorer need not see.
	exploredAddresses = []string{
		"internal/admission", "internal/decay", "internal/magazine", "internal/semaphore",
		"internal/memory/blocks.go", "lease.go",
	}
	unexploredAddresses = []string{
		"internal/decay/trims.go",      // a lock of the whole program; a scenario has one pool
		"internal/magazine/counter.go", // statistics
		"internal/magazine/occupancy.go",
		"internal/magazine/shards.go", // the locks of the portable engine, which the explorer does not run
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
