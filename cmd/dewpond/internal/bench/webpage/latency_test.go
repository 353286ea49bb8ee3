package webpage

import (
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/instruments/kit/page"
)

func TestCurvesEndWhereSamplesDo(t *testing.T) {
	d := synthetic.Document(synthetic.Mixed, synthetic.Rounds(42, 1, 10_000, synthetic.Pools[3]))
	points, err := page.Distribution(d.Contenders[0].Get.Histogram)
	if err != nil {
		t.Fatal(err)
	}
	// Ten of 10,000 samples lie beyond P99.9, which is 1000 on this axis.
	if last := points[len(points)-1][0]; last > 1000.5 || last < 500 {
		t.Errorf("the curve ends at %v, want just before 1000", last)
	}
}
