// Package tradepool is the pool of “Go 高并发下的“内存刺客“：自研 Size-Class 无锁对象池，把 sync.Pool 的
// P99 从 128μs 压到 41μs” (https://jishuzhan.net/article/2072195974520467457), as it is described
// there and with its faults, so that the lab can show them. Only what does not compile is changed:
// a node holds a *[]byte. Do not use it.
package tradepool

import (
	"math/bits"
	"sync/atomic"
)

const (
	// Classes is how many there are; [Largest] leaves six of them without a use.
	Classes = 16
	// Smallest is the size of class 0; each further class has twice the size.
	Smallest = 16
	// Largest is the largest size that is pooled.
	Largest = 8192
	// Cap is how many buffers a class is meant to hold at most.
	Cap = 2048
)

// ClassOf returns the class of a size, -1 above [Largest]. It rounds down, also for Get.
func ClassOf(n int) int {
	if n > Largest {
		return -1
	}
	return bits.Len(uint((n+Smallest-1)/Smallest)) - 1
}

// SizeOf returns the size that a class is named for.
func SizeOf(class int) int { return Smallest << class }

// A Pool has a stack for each class.
type Pool struct {
	buckets [Classes]Stack
	limiter limiter

	Refused   atomic.Int64 // misses that the limiter has refused
	Allocated atomic.Int64 // misses that were allocated
	Short     atomic.Int64 // hits whose buffer was too small for the size asked for
}

// Get returns a buffer of n bytes.
func (p *Pool) Get(n int) []byte {
	class := ClassOf(n)
	if class < 0 {
		return make([]byte, n)
	}
	if b := p.buckets[class].Pop(); b != nil {
		if cap(*b) >= n {
			return (*b)[:n]
		}
		p.Short.Add(1)
	}
	if !p.limiter.allow() {
		p.Refused.Add(1) // and then it allocates all the same
	}
	p.Allocated.Add(1)
	return make([]byte, n)
}

// Put clears the buffer as far as its length and puts it back.
func (p *Pool) Put(b []byte) {
	class := ClassOf(cap(b))
	if class < 0 {
		return
	}
	clear(b)
	p.buckets[class].Push(&b)
}
