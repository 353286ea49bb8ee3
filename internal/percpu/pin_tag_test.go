//go:build dewpond_pinned && !dewpond_explore

package percpu

import (
	"runtime"
	"testing"
)

// Engine says so only after the self test.
func TestEngineOfTag(t *testing.T) {
	if want := "pinned (dewpond_pinned, " + runtime.Version() + ")"; Pinned && Engine() != want {
		t.Errorf("the engine is %q, want %q", Engine(), want)
	}
}
