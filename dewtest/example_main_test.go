package dewtest_test

import (
	"testing"

	"github.com/dewpond/dewpond/dewtest"
)

// All tests of a package run with every pool watched, also those that the package makes for itself: it
// has this in place of a TestMain of its own.
func ExampleMain() {
	_ = func(m *testing.M) { // func TestMain(m *testing.M)
		dewtest.Main(m)
	}
}
