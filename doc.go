// Package dewpond provides reusable memory: pools of byte blocks, of slices and of
// objects. The pools survive garbage collections, stay within bounds that hold at every
// moment, release memory when told to, refuse the misuse that they can see, and count
// what they do.
//
//	var pool = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames"})
//
//	b := pool.Get(1500) // len 1500, cap 1536
//	defer pool.Put(b)
//
// # Which tool
//
//   - [BytePool] hands out blocks of bytes: Get and Put.
//   - [Hint] hands out blocks for bodies that others append to, and learns their size.
//   - [SlicePool] hands out slices of any type, by size as BytePool does.
//   - [Pool] hands out objects of one type, reset: a *gzip.Writer, a request's state.
//   - [Buffer] is a [bytes.Buffer] on a pool's blocks, for output that is built piece by
//     piece.
//   - [Lease] is a block behind a handle that cannot be given back twice and that
//     several owners may share, whole or in parts, for a block that leaves the function
//     that got it.
//   - [Scope] hands out many small pieces that end together, for all that one request
//     needs.
//
// # Who owns a block
//
// Get hands a block to its caller, which owns it until Put. After Put no code may
// use the slice, or any other slice of the same block. The ownership document of the
// repository lists each misuse of each tool, and whether it is refused or cannot be seen:
// https://github.com/dewpond/dewpond/blob/main/docs/ownership.md.
//
// # How a Get is served
//
// From the fastest way to the slowest; the package comment of internal/magazine says
// more.
//
//  1. internal/sizeclass finds the smallest class that holds the size: one load.
//  2. internal/percpu pins the goroutine to its P, the scheduler's processor, so
//     that the P's shard is its alone, without a lock.
//  3. If the shard's loaded magazine has a block, Get returns it. A Get and its Put
//     cost two pins and a few moves, and neither takes a lock or uses an atomic.
//  4. Otherwise the shard's previous magazine has a block, or the depot exchanges the
//     empty magazine for a full one: one compare-and-swap.
//  5. Otherwise it is a miss: Get allocates. If AllocLimit or the [Budget] does not allow
//     that, TryGet, GetContext and GetBatch gather the idle blocks of other processors,
//     and if there are none return [ErrExhausted] or wait.
//
// # What is bounded
//
// In [BytePoolOptions], MaxIdleBytes and MaxIdlePerClass bound what a pool keeps idle,
// AllocLimit bounds how many misses a second TryGet and GetContext may allocate, and a
// [Budget] bounds the bytes that several pools have together, idle and in use. Get is
// never refused. In [PoolOptions], MaxIdle bounds the idle objects and Limit the objects
// that callers hold.
//
// In addition to its blocks a pool has up to half a kilobyte for each magazine (of at
// most 64 blocks), which decays as blocks do, and 64 bytes for each of up to 4096 idle
// handles of leases, until Trim or Close. [Stats.OverheadBytes] says how much.
package dewpond
