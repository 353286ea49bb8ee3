package dewproto

import (
	"io"
	"sync"

	"github.com/dewpond/dewpond"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A Pool encodes and decodes in blocks of a [dewpond.BytePool]. Make one with [New], once.
// All methods may be called by any number of goroutines at once.
type Pool struct {
	blocks *dewpond.BytePool

	// bodies has a *dewpond.BodyPool for each protoreflect.MessageType. A message has no size
	// before it is read, and messages of one type are of like sizes.
	bodies sync.Map
}

// New returns a Pool on blocks of pool, which must not be off the heap.
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
// was read into. The block has the size that messages of this type have had lately. A caller
// that does not trust r limits it with [io.LimitReader] or [net/http.MaxBytesReader].
func (p *Pool) Unmarshal(r io.Reader, m proto.Message) error {
	own := p.bodiesOf(m.ProtoReflect().Type())
	b := own.Get()
	defer func() { own.Put(b) }()
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)] // lets go of the block; the BodyPool adopts the next
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			return proto.Unmarshal(b, m)
		case err != nil:
			return err
		}
	}
}

func (p *Pool) bodiesOf(t protoreflect.MessageType) *dewpond.BodyPool {
	own, ok := p.bodies.Load(t)
	if !ok {
		own, _ = p.bodies.LoadOrStore(t, p.blocks.Bodies())
	}
	return own.(*dewpond.BodyPool)
}
