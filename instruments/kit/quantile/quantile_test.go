package quantile

import (
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1, 4}, 4},
		{[]float64{9, 1, 4, 6}, 5},
	} {
		before := slices.Clone(test.values)
		if got := Median(test.values); got != test.want || !slices.Equal(test.values, before) {
			t.Errorf("the median of %v is %v, want %v; they are %v now", before, got, test.want, test.values)
		}
	}
}

func TestOf(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = i + 1
	}
	for _, test := range []struct {
		values []int
		p      float64
		want   int
	}{
		{nil, 0.5, 0},
		{[]int{7}, 0, 7},
		{[]int{7}, 1, 7},
		{[]int{1, 2, 3}, 0.5, 2},
		{hundred, 0, 1},
		{hundred, 0.5, 51},
		{hundred, 0.95, 96},
		{hundred, 0.99, 100},
		{hundred, 1, 100},
	} {
		if got := Of(test.values, test.p); got != test.want {
			t.Errorf("the quantile %v of %d values is %d, want %d", test.p, len(test.values), got, test.want)
		}
	}
}
