package dewpond_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond"
)

// A user's tests share the default pool, some of them in bubbles. A timer that was
// armed in one and reset outside would be a fatal error, which no test survives: so
// it is a process of its own that must come to its end.
func TestDefaultPoolInBubbles(t *testing.T) {
	const key = "DEWPOND_TEST_BUBBLES"
	if first := os.Getenv(key); first != "" {
		useDefaultPoolInBubbles(t, first)
		return
	}
	for _, first := range []string{"inside", "outside"} {
		child := exec.Command(os.Args[0], "-test.run=^TestDefaultPoolInBubbles$")
		child.Env = append(os.Environ(), key+"="+first)
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "all 60 hit, armed true\n") {
			t.Errorf("first used %s: %v\n%s", first, err, out)
		}
	}
}

func useDefaultPoolInBubbles(t *testing.T, first string) {
	use := func() {
		for range 10 {
			dewpond.Put(dewpond.Get(100_000)) // a class that is in no shard
		}
	}
	bubble := func() {
		synctest.Test(t, func(t *testing.T) {
			use()
			time.Sleep(10 * time.Second) // ticks, if there is a timer of the bubble's
			use()
		})
	}
	if first == "outside" {
		use()
	} else {
		synctest.Test(t, func(t *testing.T) { use() })
	}
	before := dewpond.Default().Stats()
	bubble()
	use()
	bubble()
	use()
	if s := dewpond.Default().Stats().Sub(before); s.Hits == s.Gets {
		fmt.Printf("all %d hit, armed %v\n", s.Gets, dewpond.Armed(dewpond.Default()))
	}
}
