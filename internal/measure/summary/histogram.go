package summary

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func encode(h *hdrhistogram.Histogram) ([]byte, error) {
	return h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
}

// merge adds the rounds' histograms of one operation; nil where no round has
// one. The sum takes the widest range and the finest resolution among them, so
// that nothing can fall outside it; if something does, the figures would be of
// other samples than those measured, and that is an error.
func (s *series) merge(op string) (*hdrhistogram.Histogram, error) {
	var high, digits int64
	for _, m := range s.rounds {
		if h := m.histograms[op]; h != nil && h.TotalCount() > 0 {
			high = max(high, h.HighestTrackableValue())
			digits = max(digits, h.SignificantFigures())
		}
	}
	if high == 0 {
		return nil, nil
	}
	sum := hdrhistogram.New(1, high, int(digits))
	for _, m := range s.rounds {
		if h := m.histograms[op]; h != nil {
			if dropped := sum.Merge(h); dropped != 0 {
				return nil, fmt.Errorf("summary: merging %s of %s lost %d samples", op, s.name, dropped)
			}
		}
	}
	return sum, nil
}
