// Package dewpond is reusable memory: pools of byte blocks and of objects that
// survive garbage collections, stay within bounds that hold at every moment, give
// their memory back when told to, refuse what they can see is misused, and count
// what they do.
//
//	var pool = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames"})
//
//	b := pool.Get(1500) // len 1500, cap 1536
//	defer pool.Put(b)
//
// # Which tool
//
//   - BytePool hands out blocks of bytes: Get and Put.
//   - Pool[T] hands out objects of one type, reset: a *gzip.Writer, a request's state.
//   - Buffer is a bytes.Buffer on a pool's blocks: what is built piece by piece.
//   - Lease is a block behind a handle that cannot be given back twice, and that
//     several owners may share: what leaves the function that made it.
//   - Scope is many small pieces that end together: all that one request needs.
//
// # Who owns a block
//
// Get hands a block to its caller, who owns it until Put. After Put nobody may
// use the slice, nor any other slice of it. docs/ownership.md lists each misuse of
// each tool, and whether it is refused or cannot be seen.
//
// # How a Get is served
//
// From the fastest way down; the package comment of internal/magazine has more.
//
//  1. internal/sizeclass finds the smallest class that holds the size: one load.
//  2. internal/percpu pins the goroutine to its P, the scheduler's processor, so
//     that the P's shard is its alone, without a lock.
//  3. The shard's loaded magazine has a block: done. Two pins and a few moves are
//     all that a Get and its Put cost, and neither takes a lock or an atomic.
//  4. Else the shard's previous magazine has one, or the depot gives a full
//     magazine for an empty one: one compare-and-swap.
//  5. Else it is a miss: Get allocates; TryGet and GetContext may instead find
//     that AllocLimit or Budget forbid it, gather what lies idle with other processors,
//     and refuse or wait.
//
// # What is bounded
//
// MaxIdleBytes and MaxIdlePerClass bound what a pool keeps idle, AllocLimit how
// many misses a second TryGet and GetContext may allocate, and a Budget the bytes that
// several pools have together, idle and in use. Get is never refused. A Pool has MaxIdle, and a Limit on what callers hold.
// Besides the blocks a pool keeps up to half a kilobyte for each magazine (of at most 64
// blocks), which goes with age as blocks do, and 64 bytes for each of up to 4096 idle handles of leases,
// until Trim or Close; Stats.OverheadBytes says how much.
package dewpond
