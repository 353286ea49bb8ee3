package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/outputs"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// ticksPerHalfDistance is how many lines a .hgrm file has each time the distance
// to 100 % halves; 5 is what HdrHistogram's own tools write.
const ticksPerHalfDistance = 5

// HGRM writes a file for each contender and operation, such as dewpond-get.hgrm, into dir, which
// it creates: the percentile distribution of all rounds merged, in nanoseconds, in the text
// format of HdrHistogram's plotter.
func HGRM(dir string, d result.Document) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for i := range d.Contenders {
		c := &d.Contenders[i]
		for _, op := range figure.Operations {
			t := op.Times(c)
			if t == nil {
				continue
			}
			path := filepath.Join(dir, fileName(c.Name)+"-"+op.Key+".hgrm")
			if err := writeHGRM(path, t.Histogram); err != nil {
				return fmt.Errorf("report: %s: %w", path, err)
			}
		}
	}
	return nil
}

func writeHGRM(path string, blob []byte) error {
	h, err := hdrhistogram.Decode(blob)
	if err != nil {
		return err
	}
	return outputs.WriteFile(path, func(f io.Writer) error {
		w := bufio.NewWriter(f)
		_, err := h.PercentilesPrint(w, ticksPerHalfDistance, 1)
		return errors.Join(err, w.Flush())
	})
}

// fileName keeps a file inside dir whatever the contender's name contains: a document may have
// been read from a file.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}
