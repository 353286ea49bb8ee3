package dewsync_test

import (
	"bytes"
	"fmt"

	"github.com/dewpond/dewpond"
	sync "github.com/dewpond/dewpond/dewsync"
)

// The import is renamed: the rest of the program is as it was.
func Example() {
	var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	b.WriteString("hello")
	fmt.Println(b)
	buffers.Put(b)
	// Output: hello
}

var pages = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// The statistics of a pool are where those of all others are, by the place of its New.
func Example_stats() {
	b := pages.Get().(*bytes.Buffer)
	b.Reset()
	pages.Put(b)

	for p := range dewpond.Pools() {
		if p.Name() == "dewsync/example_test.go:23" {
			fmt.Println("pages:", p.Stats().Gets > 0)
		}
	}
	// Output: pages: true
}
