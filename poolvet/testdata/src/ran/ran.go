// Package ran runs shapes under CheckAll, with dewtest: a bad one fails there, and a good one
// does not.
package ran

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
)

// A Shape is one function of a testdata package, called as a program would, and a test of what
// it returns.
type Shape struct {
	Name string
	Bad  bool
	Run  func(tb testing.TB, p *dewpond.BytePool)
}

// Run fails unless each bad shape fails and each good one passes.
func Run(t *testing.T, shapes []Shape) {
	for _, s := range shapes {
		t.Run(s.Name, func(t *testing.T) {
			failures := s.failures()
			if s.Bad && len(failures) == 0 {
				t.Error("nothing fails under CheckAll")
			}
			if !s.Bad && len(failures) > 0 {
				t.Errorf("fails under CheckAll: %q", failures)
			}
			t.Logf("%q", failures)
		})
	}
}

// failures is what a test that owns the pool would fail with. A panic is a failure.
func (s Shape) failures() []string {
	r := &recorder{name: s.Name}
	p := dewtest.NewBytePool(r, dewpond.BytePoolOptions{})
	func() {
		defer func() {
			if v := recover(); v != nil {
				r.Errorf("panic: %v", v)
			}
		}()
		s.Run(r, p)
	}()
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
	return r.errors
}

// A recorder is a test that only records its failures.
type recorder struct {
	testing.TB
	name     string
	errors   []string
	cleanups []func()
}

func (r *recorder) Helper()             {}
func (r *recorder) Name() string        { return r.name }
func (r *recorder) Cleanup(f func())    { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Error(args ...any)   { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorder) Fatal(args ...any)   { panic(fmt.Sprint(args...)) }
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
