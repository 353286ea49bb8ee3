package sizeclass

import (
	"runtime"
	"strings"
	"testing"
)

func TestDefaultsAreExactGoSizes(t *testing.T) {
	if got := len(Default()); got != 58 {
		t.Fatalf("%d default classes, want 58", got)
	}
	if errs := Check(Default(), true); errs != nil {
		t.Fatal(errs)
	}
	// Not by goSize, which Check itself uses: by what the collector accounts.
	for _, size := range Default() {
		if got := allocated(size); got != size {
			t.Errorf("class %d: Go allocates %d bytes", size, got)
		}
	}
	if got := allocated(7168); got != 8192 {
		t.Fatalf("the measurement itself is off: 7168 allocates %d, want 8192", got)
	}
}

var sink []byte

// allocated measures the bytes that one make([]byte, size) takes. The smallest
// of several tries, because other goroutines allocate too.
func allocated(size int) int {
	least := uint64(1 << 62)
	var before, after runtime.MemStats
	for range 5 {
		runtime.ReadMemStats(&before)
		for range 4 {
			sink = make([]byte, size)
		}
		runtime.ReadMemStats(&after)
		least = min(least, (after.TotalAlloc-before.TotalAlloc)/4)
	}
	return int(least)
}

func TestLookupEveryN(t *testing.T) {
	tables := map[string][]int{
		"default": Default(),
		"one":     {64},
		"small":   {64, 1024},
		"wide":    {128, 4096, 32768, 40960, 4 << 20, 64 << 20},
		"most":    most(),
	}
	for name, classes := range tables {
		t.Run(name, func(t *testing.T) {
			table := New(classes)
			want := 0 // the reference: walk both upward
			for n := 0; n <= 4<<20; n++ {
				for want < len(classes) && classes[want] < n {
					want++
				}
				got, ok := table.Class(n)
				if int(got) != want || ok != (want < len(classes)) {
					t.Fatalf("Class(%d) = %d, %v; want %d", n, got, ok, want)
				}
				if n <= MaxSmall {
					number, size := 0, 0
					if want < len(classes) && classes[want] <= MaxSmall {
						number, size = want+1, classes[want]
					}
					if got := table.Small(uint(n)); int(got.Number()) != number || int(got.Size()) != size {
						t.Fatalf("Small(%d) = number %d of %d bytes, want %d of %d", n, got.Number(), got.Size(), number, size)
					}
				}
				isClass := want < len(classes) && classes[want] == n
				if _, ok := table.Exact(n); ok != isClass {
					t.Fatalf("Exact(%d) = %v, want %v", n, ok, isClass)
				}
			}
		})
	}
}

// most returns the longest table there can be.
func most() []int {
	var classes []int
	for i := range MaxClasses {
		classes = append(classes, MinSize+i*Multiple)
	}
	return classes
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name    string
		classes []int
		onHeap  bool
		want    []string // one for each error, in order
	}{
		{"defaults", Default(), true, nil},
		{"off the heap any multiple", []int{64, 7168}, false, nil},
		{"none", []int{}, true, []string{"no class"}},
		{"not a Go size", []int{64, 7168}, true, []string{"class 7168: Go would allocate 8192 bytes for it; 6912 or 8192 would do"}},
		{"not whole pages", []int{40000}, true, []string{"Go would allocate 40960"}},
		{"odd", []int{100}, false, []string{"class 100: a block size is a multiple of 16; 96 or 112 would do"}},
		{"tiny and huge", []int{32, 128 << 20}, false, []string{"class 32: a block size is 64 to", "class 134217728"}},
		{"descending", []int{128, 64, 64}, true, []string{"class 64 after 128", "class 64 after 64"}},
		{"negative", []int{-64}, true, []string{"class -64"}},
		{"too many", append(most(), 1<<20), false, []string{"129 classes: at most 128"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			errs := Check(tt.classes, tt.onHeap)
			if len(errs) != len(tt.want) {
				t.Fatalf("got %v, want %d errors", errs, len(tt.want))
			}
			for i, want := range tt.want {
				if !strings.Contains(errs[i].Error(), want) {
					t.Errorf("error %d is %q, want it to say %q", i, errs[i], want)
				}
			}
		})
	}
}
