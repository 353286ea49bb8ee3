package contender

import (
	"math/bits"
	"sync/atomic"

	"github.com/dewpond/dewpond/instruments/kit/palette"
)

// treiber is the pool that an article on an order-matching engine describes: "Go
// 高并发下的“内存刺客“:自研 Size-Class 无锁对象池,把 sync.Pool 的 P99 从 128μs 压到
// 41μs" (https://jishuzhan.net/article/2072195974520467457). It is kept as described, except
// where that is memory-unsafe or rounds sizes wrongly. Kept:
//
//   - a new node and an escaped slice header for each Put. The new node makes the plain CAS
//     safe: the collector does not reuse an address while a goroutine holds it, so there is
//     no ABA;
//   - a cap that is checked before the push, so that concurrent Puts exceed it;
//   - dropping the newest block when full;
//   - a fallback limiter whose refusal still ends in make.
//
// Repaired:
//
//   - a node holds *[]byte; the article's cast of the slice itself does not
//     compile, and its data pointer read back as a header is memory-unsafe;
//   - Get rounds its class up and Put down, where the article rounds both down
//     and 98 % of sizes land in a class smaller than themselves;
//   - all 16 classes can be reached, where the article's limit of 8 KiB leaves
//     six of them dead;
//   - a miss allocates the class size, not the size asked for, so no odd cap
//     enters a bucket;
//   - clearing covers the cap, not the length.
var treiber = Contender{
	Name: "treiber",
	Hue:  palette.Lime,
	About: "a CAS stack for each doubling of size, cap 2048 or room for one burst, a fresh node for each Put; repaired: typed slice pointers instead of unsafe casts, " +
		"Get rounds up and Put down, all 16 classes reachable, a miss allocates the class size, clears to cap",
	New: newTreiberPool,

	Allocs:   2, // the node, and what points to the slice
	MostIdle: func(int) int { return treiberCap },
}

const (
	treiberClasses  = 16
	treiberSmallest = 16
	treiberCap      = 2048
)

type treiberPool struct {
	buckets  [treiberClasses]bucket
	most     int64 // blocks of a bucket
	limit    fallbackLimiter
	clearing bool
}

func newTreiberPool(o Options) Pool {
	p := &treiberPool{most: treiberCap, clearing: o.Clearing}
	for _, blocks := range o.Room {
		p.most = max(p.most, int64(blocks))
	}
	return p
}

// A bucket is a Treiber stack. Buckets share cache lines, as in the article.
type bucket struct {
	head  atomic.Pointer[node]
	count atomic.Int64
}

type node struct {
	block *[]byte
	next  *node
}

func (b *bucket) push(block *[]byte, most int64) {
	if b.count.Load() >= most {
		return
	}
	n := &node{block: block}
	for {
		n.next = b.head.Load()
		if b.head.CompareAndSwap(n.next, n) {
			b.count.Add(1)
			return
		}
	}
}

func (b *bucket) pop() *[]byte {
	for {
		n := b.head.Load()
		if n == nil {
			return nil
		}
		if b.head.CompareAndSwap(n, n.next) {
			b.count.Add(-1)
			return n.block
		}
	}
}

func (p *treiberPool) View() View { return p }

func (p *treiberPool) get(n int) []byte {
	class := bits.Len(uint(max(n-1, 0)) / treiberSmallest)
	if class >= treiberClasses {
		return make([]byte, n)
	}
	if b := p.buckets[class].pop(); b != nil {
		return (*b)[:n]
	}
	// If the limiter refuses, memory is allocated all the same: it limits nothing, but its
	// cost is part of this pool.
	p.limit.allow()
	return make([]byte, n, treiberSmallest<<class)
}

func (p *treiberPool) put(b []byte) {
	class := bits.Len(uint(cap(b))/treiberSmallest) - 1
	if class < 0 || class >= treiberClasses {
		return
	}
	b = b[:cap(b)]
	if p.clearing {
		clear(b)
	}
	p.buckets[class].push(&b, p.most)
}

func (p *treiberPool) Get(n int) Block { return Block{Bytes: p.get(n)} }
func (p *treiberPool) Put(b Block)     { p.put(b.Bytes) }

func (p *treiberPool) Loop(n, count int) {
	for range count {
		b := p.get(n)
		touch(b)
		p.put(b)
	}
}

func (p *treiberPool) IdleBytes() int64 {
	var sum int64
	for class := range p.buckets {
		sum += p.buckets[class].count.Load() * (treiberSmallest << class)
	}
	return sum
}
