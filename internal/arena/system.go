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
	// open makes a part of it readable and writable. It is zero.
	open func(part []byte) error
	// decommit gives the pages of a part back. It stays open, and is zero again.
	decommit func(part []byte) error
	// unmap gives the whole range up.
	unmap func(all []byte) error
}

func (s system) maps() bool { return s.reserve != nil }
