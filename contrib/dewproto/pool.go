package dewproto

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A Pool encodes and decodes in blocks of a [dewpond.BytePool]. Make one with [New], once.
// All methods may be called by any number of goroutines at once.
type Pool struct {
	blocks *dewpond.BytePool

	// hints has a *hint for each protoreflect.MessageType. A message has no size before it is
	// read, and messages of one type are of like sizes.
	hints sync.Map
}

// New returns a Pool on blocks of pool.
func New(pool *dewpond.BytePool) *Pool { return &Pool{blocks: pool} }

// Marshal encodes m into a block, which the caller gives back to the BytePool:
//
//	b, err := messages.Marshal(m)
//	if err != nil {
//		return err
//	}
//	defer pool.Put(b)
func (p *Pool) Marshal(m proto.Message) ([]byte, error) {
	options := proto.MarshalOptions{}
	size := options.Size(m)
	options.UseCachedSize = true // of the call of Size
	b := p.blocks.Get(size)
	encoded, err := options.MarshalAppend(b[:0], m) // as long as Size said, so still in b
	if err != nil {
		p.blocks.Put(b)
		return nil, err
	}
	return encoded, nil
}

// Unmarshal reads all of r and decodes it into m, which keeps nothing of the block that it
// was read into. The block has the size that messages of this type have had lately, once a
// part of that has come: a slow reader holds at most 64 KiB or 16 times what it has sent, the
// larger. A caller that does not trust r limits it with [io.LimitReader] or
// [net/http.MaxBytesReader].
func (p *Pool) Unmarshal(r io.Reader, m proto.Message) error {
	hint := p.hintOf(m.ProtoReflect().Type())
	const trusted = 64 << 10
	size := hint.size() + 1 // for the Read that returns io.EOF
	b := p.blocks.Get(min(size, trusted))[:0]
	defer func() { p.blocks.Put(b) }()
	for {
		if len(b) == cap(b) {
			full := b
			b = nil // Grow puts it back, also if that panics
			b = p.blocks.Grow(full, max(2*len(full), min(size, 16*len(full)))-len(full))
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			hint.learn(len(b))
			return proto.Unmarshal(b, m)
		case err != nil:
			return err
		}
	}
}

func (p *Pool) hintOf(t protoreflect.MessageType) *hint {
	h, ok := p.hints.Load(t)
	if !ok {
		h, _ = p.hints.LoadOrStore(t, new(hint))
	}
	return h.(*hint)
}

// A hint is the size in bytes that messages of a type have had lately. It rises at once and
// falls by a sixteenth of the difference. What two goroutines learn at the same moment is
// learned once.
type hint struct{ bytes atomic.Int64 }

func (h *hint) size() int { return max(511, int(h.bytes.Load())) }

func (h *hint) learn(n int) {
	was, next := h.bytes.Load(), int64(n)
	if next < was {
		next = was - (was-next+15)/16
	}
	if next != was {
		h.bytes.CompareAndSwap(was, next)
	}
}
