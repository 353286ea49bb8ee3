package guardpage

// A system is what guarding asks of the kernel. Tests play one.
type system struct {
	pageSize  int
	giveBack  func(pages []byte) error                    // makes them absent
	resident  func(pages []byte) (each []bool, err error) // says which are not
	touches   func() (who string)                         // names what else may touch pages now, or returns ""
	unasked   func() bool                                 // says whether huge pages are made of small ones unasked
	keepSmall func(pages []byte) error                    // has none be made of them
	hide      func(pages []byte) error                    // makes whoever touches them fault; where it fails it may have begun
	open      func(pages []byte) error                    // ends that
	live      func() uint64                               // bytes of the Go heap that the last collection has left
}
