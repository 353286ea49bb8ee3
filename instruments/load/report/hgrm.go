package report

import (
	"github.com/dewpond/dewpond/instruments/kit/hgrm"
	"github.com/dewpond/dewpond/instruments/load"
)

// WriteHGRM writes a file for each part and time, such as match-response.hgrm, into dir: the
// percentile distribution in nanoseconds, in the text format of HdrHistogram's plotter.
func WriteHGRM(dir string, r *load.Result) error {
	var names hgrm.Names
	for _, p := range parts(r) {
		for _, t := range timesOf(p) {
			if t.Samples == 0 {
				continue
			}
			if err := names.Write(dir, p.Name+"-"+t.name, t.Histogram); err != nil {
				return err
			}
		}
	}
	return nil
}
