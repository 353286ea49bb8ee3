package dewarrow_test

import (
	"testing"

	"github.com/dewpond/dewpond/contrib/internal/upstream"
)

// Arrow's own tests of arrays pass on our allocator, most of them under Arrow's checked
// allocator, which wants all memory back and each piece with its size. The pool watches too:
// nothing is freed twice, written to after that, or freed with another size.
func TestUpstream(t *testing.T) {
	upstream.Suite{
		Module:  "github.com/apache/arrow-go/v18",
		Package: "arrow/array",
		Replace: map[string]string{"memory.NewGoAllocator()": "memory.DefaultAllocator"},
		Adapter: `package array_test

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewarrow"
	"github.com/dewpond/dewpond/misuse"
)

var (
	dewpondAllocator *dewarrow.Allocator
	dewpondMisused   atomic.Bool
)

func init() {
	check, err := dewpond.CheckAll, error(nil)
	if os.Getenv("DEWPOND_GUARD") != "" {
		check = dewpond.CheckOff // what is checked is not guarded
	}
	dewpondAllocator, err = dewarrow.New(dewpond.BytePoolOptions{Name: "upstream", Check: check, OnViolation: func(v misuse.Violation) {
		if v.Kind == misuse.Leak {
			return // of the tests without the checked allocator
		}
		fmt.Println(v)
		dewpondMisused.Store(true)
	}})
	if err != nil {
		panic(err)
	}
	memory.DefaultAllocator = dewpondAllocator
}

func TestMain(m *testing.M) {
	code := m.Run()
	dewpondAllocator.Pool().Close() // looks at all that is idle
	if s := dewpondAllocator.Pool().Stats(); s.Gets == 0 || dewpondMisused.Load() {
		fmt.Println("dewpond: the pool was not used, or was misused:", s.Gets, "gets")
		code = 1
	}
	os.Exit(code)
}
`,
		// Its generator of list views goes on with the lengths that it has released. The
		// GoAllocator frees nothing, and so nobody sees it there.
		Skip: "^TestConcatenate$/^(large_)?list_view$",
	}.Run(t)
}
