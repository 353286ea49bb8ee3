//go:build twin

package badget

import (
	"testing"

	"github.com/dewpond/dewpond"
	"testdata.example/src/ran"
)

// TestRun needs no CheckAll, and no twin: what is bad here panics. The tag keeps it from the checks,
// for it puts nothing back.
func TestRun(t *testing.T) {
	ran.Run(t, []ran.Shape{
		{"right", false, func(testing.TB, *dewpond.BytePool) { right() }},
		{"wrong", true, func(testing.TB, *dewpond.BytePool) { wrong() }},
		{"none", true, func(testing.TB, *dewpond.BytePool) { none() }},
		{"looked", false, func(testing.TB, *dewpond.BytePool) { looked() }},
		{"commaOk", false, func(testing.TB, *dewpond.BytePool) { commaOk() }},
		{"setLater", false, func(testing.TB, *dewpond.BytePool) { setLater() }},
	})
}
