package guardpage

// bytesFor returns how many bytes of whole pages a guarded block takes, with its mark.
func bytesFor(mark, size, page int) int { return (mark + size + page - 1) &^ (page - 1) }

// pagesOf returns n bytes of whole pages, that nothing else of the heap shares. Where a page is not
// larger than Go's own, of 8 KiB, the heap's blocks of whole pages begin with one; else there must
// be room for that.
func pagesOf(n, page int) []byte {
	b := make([]byte, n)
	if before := missing(addressOf(b), page); before != 0 {
		b = make([]byte, n+page)
		before = missing(addressOf(b), page)
		b = b[before : before+n : before+n]
	}
	return b
}

// missing returns how many bytes are before the first page that begins at an address or behind it.
func missing(at uintptr, page int) int { return int(-at & uintptr(page-1)) }
