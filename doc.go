// Package dewpond provides reusable memory: pools of byte blocks, of slices and of
// objects. The pools survive garbage collections, keep no more idle than their bounds
// allow, release memory when told to, refuse the misuse that they can see, and count
// what they do. TryGet and GetContext obey a pool's AllocRate, its Budget and its MaxOut.
// Get is never refused: it goes past them, and counts that.
//
//	var pool = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames"})
//
//	b := pool.Get(1500) // len 1500, cap 1536
//	defer pool.Put(b)
//
// # Which tool
//
//   - [BytePool] hands out blocks of bytes: Get and Put.
//   - [BodyPool] hands out blocks for bodies that others append to, and learns their size.
//   - [SlicePool] hands out slices of any type, by size as BytePool does.
//   - [Pool] hands out objects of one type, reset: a request's state, or a *gzip.Writer, which
//     the caller resets after Get.
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
// # What is bounded
//
// In [BytePoolOptions], MaxIdleBytes and MaxIdlePerClass bound what a pool keeps idle; where
// neither is given, idle and in use together may reach what was in use at one time lately.
// AllocRate bounds how many misses a second TryGet and GetContext may allocate, and a
// [Budget] bounds the bytes that several pools have together, idle and in use. Get is
// never refused. In [PoolOptions], MaxIdle bounds the idle objects and MaxOut the objects
// that callers hold.
//
// What a pool needs in addition to its blocks is in [Stats.OverheadBytes].
//
// # Where it works
//
// The library imports the standard library only. On other systems than Linux some of it
// does less:
//
//	                        Linux                    macOS, Windows and others
//	pools, decay, Budget    yes                      yes
//	CheckAll, CheckSampled  yes                      yes
//	package pressure        GOMEMLIMIT, collector,   GOMEMLIMIT, collector
//	                        cgroups, PSI
//	package offheap         mapped memory            memory of the Go heap
//	CheckAll of offheap     a touch of an idle       a write to an idle block
//	                        block faults             is found later
//	offheap.ExplainFaults   names the block          nothing faults
//	DEWPOND_GUARD           finds use after Put,     off
//	                        on 64 bits
//
// Go 1.24 to 1.27 have the fast engine, which pins a goroutine to its processor. Under the
// race detector, with the build tag dewpond_portable, and with every other version or
// compiler an engine with locks serves: slower, and with the same results.
// [Stats.Engine] says which it is.
//
// With the build tag dewpond_pinned a newer Go has the fast engine too. Nobody has read that
// Go's runtime: so the program looks at its start, for some milliseconds, whether a pinned
// goroutine is left alone, and panics if not. A Go that lacks what pinning needs does not link.
package dewpond
