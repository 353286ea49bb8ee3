package arena

import "os"

// pageSize is what memory is resident in. On no system is it more than a granule.
var pageSize = os.Getpagesize()

// A system is the calls that an arena makes. Tests put others in their place, that
// refuse. Each keeps to one range of addresses and returns the system's own error.
type system struct {
	// reserve returns a range that nobody else gets, and that cannot be accessed.
	// nil: this system maps nothing, and spans are pieces of the Go heap.
	reserve func(bytes int) ([]byte, error)
	// table returns a range for the states of blocks, which can be read, and is zero.
	// Nothing is charged for it before open makes a part writable. dropTable gives the
	// whole up, on a goroutine of the collector's. nil: each span has its states on the
	// Go heap.
	table     func(bytes int) ([]byte, error)
	dropTable func(all []byte) error
	// open makes a part of it readable and writable. It is zero.
	open func(part []byte) error
	// decommit gives the pages of a part back. It stays open, and is zero again.
	decommit func(part []byte) error
	// unmap gives the whole range up.
	unmap func(all []byte) error

	// The rest makes whole pages of an open part fault (isolate.go).
	//
	// mark does so without another mapping, and drops what they hold; unmark ends it,
	// and leaves pages alone that have no mark. nil: this system maps nothing.
	mark, unmark func(part []byte) error
	// hide does so with another mapping, and keeps what they hold; open ends it.
	hide func(part []byte) error
	// setApart makes a part a mapping of its own, that never becomes one with its
	// neighbours whatever access they have; join ends it.
	setApart, join func(part []byte) error
}

func (s system) maps() bool { return s.reserve != nil }
