// Package bad04 frames records for a replication stream.
package bad04

import (
	"encoding/binary"
	"hash/crc32"
	"sync"
)

const frameHint = 2048

type frameBuf struct {
	b []byte
}

var frames = sync.Pool{
	New: func() any { return &frameBuf{b: make([]byte, 0, frameHint)} },
}

func (f *frameBuf) release() {
	f.b = f.b[:0]
	frames.Put(f)
}

// Record is one change.
type Record struct {
	Seq  uint64
	Key  []byte
	Data []byte
}

func appendField(dst, field []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(field)))
	return append(dst, field...)
}

// Encode gives the wire form of the record with its checksum.
func Encode(r *Record) []byte {
	f := frames.Get().(*frameBuf)
	out := binary.BigEndian.AppendUint64(f.b[:0], r.Seq)
	out = appendField(out, r.Key)
	out = appendField(out, r.Data)
	sum := crc32.ChecksumIEEE(out)
	out = binary.BigEndian.AppendUint32(out, sum)
	f.b = out
	f.release()
	return out // want `\(useafterput\)`
}
