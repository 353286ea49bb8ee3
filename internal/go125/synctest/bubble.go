//go:build go1.25

// Package synctest is testing/synctest, for tests that Go 1.24 compiles and skips.
package synctest

import (
	"testing"
	"testing/synctest"
)

// Test is synctest.Test.
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// Wait is synctest.Wait.
func Wait() { synctest.Wait() }
