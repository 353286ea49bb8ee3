// Package dewsing has github.com/sagernet/sing take its buffers from a pool of dewpond.
// sing keeps what is idle in a sync.Pool for each size, which nothing bounds between two
// collections. A process with a limit of its own, such as a network extension on a phone,
// which has 50 MB, bounds what is idle by [dewpond.BytePoolOptions].MaxIdleBytes, and the
// whole by a [dewpond.Budget].
//
// The package does not import sing, whose licence is the GPL 3: an [Allocator] has the
// methods of its interface, as common/buf/alloc.go has it in version 0.3.8, and its default
// allocator's bounds: it returns nil for 0 bytes and for more than 64 KiB.
package dewsing
