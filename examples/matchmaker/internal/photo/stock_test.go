package photo

import (
	"bytes"
	"image/jpeg"
	"slices"
	"testing"
)

func TestStock(t *testing.T) {
	s, err := Make()
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, p := range s.photos {
		sizes = append(sizes, len(p.JPEG))
		c, err := jpeg.DecodeConfig(bytes.NewReader(p.JPEG))
		if err != nil || c.Width != 480 {
			t.Errorf("%+v, %v", c, err)
		}
	}
	slices.Sort(sizes)
	median := (sizes[len(sizes)/2-1] + sizes[len(sizes)/2]) / 2
	if median < 180_000 || median > 192_000 {
		t.Errorf("the median is %d bytes, want 186,000; all: %v", median, sizes)
	}
	seen := map[string]int{}
	for uid := range int64(2000) {
		seen[s.Of(uid).ETag]++
	}
	if len(seen) != stocked {
		t.Errorf("%d photos are seen of %d", len(seen), stocked)
	}
}
