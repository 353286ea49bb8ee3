//go:build !race

package soak

import (
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
)

// The round finds out a pool that gives one block to all. The race detector would find it first.
func TestSoakTwoOwners(t *testing.T) {
	block := make([]byte, contender.Largest)
	err := error(nil)
	for err == nil { // two goroutines must meet; if they never do, the test runs into its timeout
		_, err = soaked(t, soon, func(contender.Options) contender.Pool { return shared(block) })
	}
	if !strings.Contains(err.Error(), "two owners") {
		t.Errorf("a pool that gives one block to all passes: %v", err)
	}
}

type shared []byte

func (p shared) View() contender.View      { return p }
func (p shared) Get(n int) contender.Block { return contender.Block{Bytes: p[:n]} }
func (p shared) Put(contender.Block)       {}
func (p shared) Loop(int, int)             {}
