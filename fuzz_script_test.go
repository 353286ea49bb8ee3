package dewpond_test

import (
	"fmt"
	"slices"
	"testing"
)

// A script is what a fuzzer makes up: bytes, each of which decides one thing. What is
// missing at its end is 0.
type script struct{ bytes []byte }

func (s *script) ended() bool { return len(s.bytes) == 0 }

func (s *script) next() int {
	if s.ended() {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b)
}

// below returns a number of 0 to n-1.
func (s *script) below(n int) int { return s.next() % n }

// oneOf is a choice of the script's.
func oneOf[T any](s *script, choices ...T) T { return choices[s.below(len(choices))] }

// scriptSteps is how many operations of a script are carried out: more find no more,
// and the fuzzer would try ever longer ones.
const scriptSteps = 200

// takeOne takes one of a list out of it, or the zero value where there is none.
func takeOne[T any](s *script, all *[]T) (v T) {
	i := s.next()
	if len(*all) == 0 {
		return v
	}
	i %= len(*all)
	v = (*all)[i]
	*all = slices.Delete(*all, i, i+1)
	return v
}

// A history is what a script has had done, to find out why it failed.
type history struct {
	t   *testing.T
	log []string
}

func (l *history) say(format string, args ...any) {
	l.log = append(l.log, fmt.Sprintf(format, args...))
}

func (l *history) fail(format string, args ...any) {
	l.t.Helper()
	l.t.Errorf(format, args...)
	for _, line := range l.log {
		l.t.Log(line)
	}
	l.t.FailNow()
}

// addScripts gives a fuzzer its first scripts, each in several parts.
func addScripts(f *testing.F, all ...[][]byte) {
	for _, parts := range all {
		f.Add(slices.Concat(parts...))
	}
}
