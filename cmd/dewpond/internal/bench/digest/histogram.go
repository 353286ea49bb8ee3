package digest

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func encode(h *hdrhistogram.Histogram) ([]byte, error) {
	return h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
}

// merge adds the rounds' histograms of one operation; nil if no round has one. The sum has the
// widest range and the finest resolution of them, so that nothing falls outside it. If a value
// is lost all the same, the figures would be of other samples than were measured, and merge
// returns an error.
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
