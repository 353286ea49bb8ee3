// Package hgrm writes latency distributions as HdrHistogram's plotter reads them.
package hgrm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/instruments/kit/outputs"
)

// ticksPerHalfDistance is how many lines a file has each time the distance to 100 % halves; 5 is what
// HdrHistogram's own tools write.
const ticksPerHalfDistance = 5

// Names are those of the files of one report. The zero value has none.
type Names struct{ taken map[string]bool }

// Write writes an encoded histogram to the file NAME.hgrm in dir: the percentile distribution in
// nanoseconds, in the text format of the plotter. What could lead out of dir, or hide the file, is
// an underscore in its name: a name may have been read from a file. Where a file of the report has
// that name, for some file systems in other letters, a number follows.
func (n *Names) Write(dir, name string, histogram []byte) error {
	path := filepath.Join(dir, n.take(clean(name))+".hgrm")
	h, err := hdrhistogram.Decode(histogram)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return outputs.WriteFile(path, func(f io.Writer) error {
		w := bufio.NewWriter(f)
		_, err := h.PercentilesPrint(w, ticksPerHalfDistance, 1)
		return errors.Join(err, w.Flush())
	})
}

// take returns the name, or the first of name-2, name-3 and so on that is free.
func (n *Names) take(name string) string {
	if n.taken == nil {
		n.taken = map[string]bool{}
	}
	free := name
	for i := 2; n.taken[strings.ToLower(free)]; i++ {
		free = name + "-" + strconv.Itoa(i)
	}
	n.taken[strings.ToLower(free)] = true
	return free
}

func clean(name string) string {
	b := []byte(name)
	for i, c := range b {
		switch {
		case c == '-', '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case c == '.' && i > 0 && b[i-1] != '_':
		default:
			b[i] = '_'
		}
	}
	return string(b)
}
