package wrongput

import (
	"io"

	"github.com/dewpond/dewpond"
)

var (
	small = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "small"})
	large = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "large"})
)

func late() {
	b := small.Get(64)
	b = b[8:]
	small.Put(b) // want `b starts later than its block`
}

func shorter() {
	b := small.Get(64)
	b = b[:8]
	small.Put(b)
}

func appended(x []byte) {
	b := small.Get(64)[:0]
	b = append(b, x...)
	small.Put(b) // want `append may have moved b`
}

func grown(x []byte) {
	b := small.Get(64)[:0]
	b = small.Append(b, x...)
	small.Put(b)
}

func oldAfterGrow(x []byte) byte {
	b := small.Get(64)
	c := small.Grow(b, 1000)
	defer small.Put(c)
	return b[0] // want `b is used after its Put`
}

func made() {
	b := make([]byte, 64)
	small.Put(b) // want `b was never the pool's`
	small.Adopt(make([]byte, 64))
}

func other() {
	b := small.Get(64)
	large.Put(b) // want `b is another pool's: it was got from small`
}

func inALoop(x []byte) {
	b := small.Get(64)[:0]
	for _, c := range x {
		b = append(b, c)
	}
	small.Put(b) // want `append may have moved b`
}

func write(b []byte, x []byte) []byte { return append(b, x...) }

func byAHelper(x []byte) {
	b := small.Get(64)[:0]
	b = write(b, x)
	small.Put(b) // want `append may have moved b`
}

func advanced(w io.Writer) {
	b := small.Get(64)
	for len(b) > 0 {
		n, err := w.Write(b)
		if err != nil {
			break
		}
		b = b[n:]
	}
	small.Put(b) // want `b starts later than its block`
}

// The size that was asked for is that of what is appended.
func fitting(x []byte) {
	b := small.Get(len(x))[:0]
	b = append(b, x...)
	small.Put(b)
}

// The deferred Put has the block as it was got.
func deferred(x []byte) int {
	b := small.Get(64)[:0]
	defer small.Put(b)
	b = append(b, x...)
	return len(b)
}
