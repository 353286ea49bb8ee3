// Package copied has a sync.Pool that is copied: https://github.com/easegress-io/easegress/pull/614.
// go vet's own copylocks finds that, and poolvet does not.
package copied

import "sync"

type filter struct{ results sync.Pool }

func newFilter(results sync.Pool) *filter { // want `newFilter passes lock by value: sync.Pool contains sync.noCopy`
	return &filter{results: results} // want `literal copies lock value from results: sync.Pool contains sync.noCopy`
}

type mended struct{ results *sync.Pool }

func newMended(results *sync.Pool) *mended { return &mended{results} }
