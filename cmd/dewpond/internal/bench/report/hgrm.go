package report

import (
	"fmt"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/hgrm"
)

// HGRM writes a file for each contender and operation, such as dewpond-get.hgrm, into dir: the
// distribution of all rounds merged.
func HGRM(dir string, d bench.Document) error {
	var names hgrm.Names
	for i := range d.Contenders {
		c := &d.Contenders[i]
		for _, op := range figure.Operations {
			t := figures.Times(c, op)
			if t == nil {
				continue
			}
			if err := names.Write(dir, c.Name+"-"+op.Key, t.Histogram); err != nil {
				return fmt.Errorf("report: %w", err)
			}
		}
	}
	return nil
}
