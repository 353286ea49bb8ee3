package dewgrpc_test

import (
	"testing"

	"github.com/dewpond/dewpond/contrib/internal/upstream"
)

// grpc-go's own tests of buffers pass on our pool: as the default pool, and where they make a
// pool of their own. What they put back that no pool has made is dropped, as it should be.
func TestUpstream(t *testing.T) {
	upstream.Suite{
		Module:  "google.golang.org/grpc",
		Package: "mem",
		Replace: map[string]string{
			"mem.NopBufferPool{}":                "dewpondBuffers",
			"mem.NewTieredBufferPool(poolSize)":  "dewpondBuffers",
			"mem.NewTieredBufferPool(poolSizes.": "dewpondTiers(poolSizes.",
			// A pool of theirs wants each buffer back once, and no other.
			"buf := make([]byte, length)\n\tt.allocated[&buf] = struct{}{}\n\treturn &buf": "buf := dewpondBuffers.Get(length)\n\tt.allocated[buf] = struct{}{}\n\treturn buf",
			"delete(t.allocated, buf)": "delete(t.allocated, buf)\n\tdewpondBuffers.Put(buf)",
		},
		Adapter: `package mem_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewgrpc"
	"google.golang.org/grpc/internal"
	"google.golang.org/grpc/mem"
)

var (
	dewpondPool    = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "upstream"})
	dewpondBuffers = mem.BufferPool(dewgrpc.New(dewpondPool))
)

func dewpondTiers(...int) mem.BufferPool { return dewpondBuffers }

func init() { internal.SetDefaultBufferPool.(func(mem.BufferPool))(dewpondBuffers) }

func TestMain(m *testing.M) {
	code := m.Run()
	for pool := range dewpond.Pools() {
		if s := pool.Stats(); s.Gets == 0 {
			fmt.Printf("the tests have not used the pool %s\n", pool.Name())
			code = 1
		}
	}
	os.Exit(code)
}
`,
		// The cap of a tier is not ours to choose, and the second is of grpc-go's own pool alone.
		Skip: "^(Test/BufferPoolIgnoresShortBuffers|TestBinaryBufferPool)$",
	}.Run(t)
}
