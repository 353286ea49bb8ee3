package load

import "fmt"

// An InvalidError is a mistake in a [Scenario]. It is found before anything is sent.
type InvalidError struct {
	// Where names the field as a scenario file does, such as "session[2].get". It is empty if
	// the mistake has no single place.
	Where string
	// Problem says what is wrong and what would do.
	Problem string
}

func (e *InvalidError) Error() string {
	if e.Where == "" {
		return e.Problem
	}
	return e.Where + ": " + e.Problem
}

func at(where, format string, args ...any) error {
	return &InvalidError{Where: where, Problem: fmt.Sprintf(format, args...)}
}
