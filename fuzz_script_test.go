package dewpond_test

import (
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

// addScripts gives a fuzzer its first scripts, each in several parts.
func addScripts(f *testing.F, all ...[][]byte) {
	for _, parts := range all {
		f.Add(slices.Concat(parts...))
	}
}
