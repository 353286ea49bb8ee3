// Package main is read, and never compiled: each function has a line of another kind.
package main

type order struct{ id int }

type ledger struct{ lines [1024]int }

func bytesOf(n int) []byte {
	return make([]byte, n)
}

func large(n int) []byte {
	return make([]byte, n)
}

func pieces(n int) (all [12][]byte) {
	for i := range 12 {
		all[i] = make([]byte, n)
	}
	return all
}

func numbers(n int) []int64 {
	return make([]int64, n)
}

func object() *order {
	return &order{}
}

func record() *ledger {
	return &ledger{}
}

func buffered(w io.Writer) {
	bufio.NewWriter(w)
}

func scanned(r io.Reader) {
	bufio.NewReader(r)
}

func packed(w io.Writer) {
	gzip.NewWriter(w)
}

func deflated(w io.Writer) {
	flate.NewWriter(w, 9)
}

func zipped(w io.Writer) {
	zlib.NewWriter(w)
}

func unpacked(r io.Reader) {
	gzip.NewReader(r)
}

func aligned(w io.Writer) {
	tabwriter.NewWriter(w, 0, 8, 1, ' ', 0)
}

func stringed(s string) {
	strings.NewReader(s)
}

func read(b []byte) {
	bytes.NewReader(b)
}

func (o *order) grown(b []byte) {
	append(b, 1)
}
