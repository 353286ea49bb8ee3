package main

import (
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/fault"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// hasParent is set in the environment where standard input ends with who has started the service, however
// that ends: then the service ends, too.
const hasParent = "MATCHMAKER_HAS_PARENT"

func endWithParent(stop func()) {
	if os.Getenv(hasParent) == "" {
		return
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
}

// standIns starts stand-ins, in a process of their own, so that the service runs where nothing is
// installed. main gives it to the service; a service that always has servers does without this
// file.
func standIns(w wanted) (s substitutes, err error) {
	spec := standin.Spec{Postgres: w.postgres, NoScorer: !w.scorer}
	if w.redis {
		spec.Regions = []string{store.East, store.West}
	}
	if !w.postgres && !w.redis && !w.scorer {
		if w.faults {
			err = command.UsageError{Err: errors.New("--faults plays on stand-ins, and there is none: leave out --postgres, --redis or --scorer, or --faults")}
		}
		return s, err
	}
	child, err := standin.Start(spec)
	if err != nil {
		return s, err
	}
	var (
		at     = child.Addresses
		faults fault.Faults
		routes func(*http.ServeMux)
	)
	if w.faults {
		faults = fault.Faults{}
		routes = faults.Routes
		err = faults.Before(&at)
	}
	end := func() error { faults.Close(); return child.Close() }
	if err != nil {
		return s, errors.Join(err, end())
	}
	return substitutes{at.Postgres, at.Redis, at.Scorer, routes, end}, nil
}
