package dewkafka

import (
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/twmb/franz-go/pkg/kgo"
)

// After 100 batches of 1 MiB in a row a small one does not hold a block for such a batch, though
// franz-go never says how long a batch was. Batches of one size, of any ratio, stay in their blocks.
func TestSmallBatchesHoldSmallBlocks(t *testing.T) {
	var p kgo.PoolDecompressBytes = &batches{bodies: dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()}).Bodies()}
	outgrown := 0
	decompress := func(compressed, n int) (held int) {
		block := p.GetDecompressBytes(make([]byte, compressed), kgo.CodecZstd)
		b := append(block[:0], make([]byte, n)...)
		if cap(b) != cap(block) {
			outgrown++
		}
		p.PutDecompressBytes(b[:cap(b)]) // as franz-go does
		return cap(b)
	}
	for range 100 {
		decompress(100_000, 1<<20)
	}
	if held := decompress(100_000, 1<<20); held != 1<<20 {
		t.Fatalf("batches of 1 MiB are in blocks of %d bytes", held)
	}
	for i := range 2000 {
		held := decompress(100, 500)
		if i == 1999 && held > 16<<10 {
			t.Errorf("after 2000 batches of 500 bytes, 100 compressed, one holds %d", held)
		}
	}
	for _, ratio := range []int{2, 10, 100} {
		decompressed := func() { decompress(30_000/ratio, 30_000) }
		for range 2000 {
			decompressed()
		}
		outgrown = 0
		for range 2000 {
			decompressed()
		}
		if outgrown > 2000/8 {
			t.Errorf("%d of 2000 batches that were compressed to 1/%d outgrow their blocks", outgrown, ratio)
		}
	}
}
