//go:build !go1.25

// Package synctest is testing/synctest, for tests that Go 1.24 compiles and skips.
package synctest

import "testing"

// Test skips the rest of the test.
func Test(t *testing.T, _ func(*testing.T)) {
	t.Helper()
	t.Skip("Go 1.24 has no testing/synctest")
}

// Wait is not reached: it is called within Test.
func Wait() { panic("Go 1.24 has no testing/synctest") }
