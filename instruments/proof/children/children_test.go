// Package children has the tests of the library that need a process of their own: what
// they look at is fatal, happens before main, or is a limit of the process. With -short they
// are left out. The root module's tests start no process.
package children

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("left out by -short: these tests start processes")
		return
	}
	os.Exit(m.Run())
}

// roleKey has the role that a child plays in its test.
const roleKey = "DEWPOND_TEST_CHILD"

// role returns the role of this process in the test that it runs. The parent has none.
func role() (name string, ok bool) { return os.LookupEnv(roleKey) }

// child prepares a run of the test that asks, in a process that plays a role. If it hangs, it
// shows its stacks shortly before this process's own timeout would end the test.
func child(t *testing.T, role string, environment ...string) *exec.Cmd {
	t.Helper()
	timeout := time.Duration(0) // none
	if end, ok := t.Deadline(); ok {
		timeout = time.Until(end) * 9 / 10
	}
	test, _, _ := strings.Cut(t.Name(), "/")
	c := exec.Command(os.Args[0], "-test.run=^"+test+"$", fmt.Sprint("-test.timeout=", timeout))
	c.Env = append(append(os.Environ(), roleKey+"="+role), environment...)
	return c
}

// An account is an object to pool.
type account struct {
	ID          int
	Name, Email string
}

// must returns what cannot fail here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// take gets n blocks.
func take(p *dewpond.BytePool, size, n int) (blocks [][]byte) {
	for range n {
		blocks = append(blocks, p.Get(size))
	}
	return blocks
}

// give puts blocks back.
func give(p *dewpond.BytePool, blocks ...[]byte) {
	for _, b := range blocks {
		p.Put(b)
	}
}
