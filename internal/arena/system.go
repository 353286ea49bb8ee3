package arena

import "os"

// pageSize is the unit in which memory is resident. On no system is it larger than a
// granule.
var pageSize = os.Getpagesize()

// A system is the set of calls that an arena makes. Tests substitute calls that refuse.
// Each call affects one range of addresses and returns the system's own error.
type system struct {
	// reserve returns a range of addresses that no other caller gets and that cannot be
	// accessed. nil: this system maps nothing, and spans are pieces of the Go heap.
	reserve func(bytes int) ([]byte, error)
	// table returns a range for the states of blocks, which is readable and zero.
	// Nothing is charged for it before open makes a part writable. dropTable unmaps the
	// whole of it, on a goroutine of the collector. nil: each span has its states on
	// the Go heap.
	table     func(bytes int) ([]byte, error)
	dropTable func(all []byte) error
	// open makes a part of a range readable and writable. The part is zero.
	open func(part []byte) error
	// decommit gives the pages of a part back. The part stays open, and is zero again.
	decommit func(part []byte) error
	// unmap gives up the whole range.
	unmap func(all []byte) error

	// The rest makes whole pages of an open part fault (isolate.go).
	//
	// mark does so without another mapping, and drops the content of the pages; unmark
	// ends it, and leaves pages without a mark alone. nil: this system maps nothing.
	mark, unmark func(part []byte) error
	// hide does so with another mapping, and keeps the content of the pages; open ends
	// it.
	hide func(part []byte) error
	// setApart makes a part a mapping of its own, which never merges with its neighbours
	// whatever access they have; join ends it.
	setApart, join func(part []byte) error
}

func (s system) maps() bool { return s.reserve != nil }
