package sizeclass

import (
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestDefaultsAreExactGoSizes(t *testing.T) {
	if errs := Check(Default(), true); errs != nil {
		t.Fatal(errs)
	}
	// Compare with what the collector accounts, not with goSize, which Check itself
	// uses.
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

// allocated measures the bytes that one make([]byte, size) takes. It returns the least
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

// A block that make returns for a size that a class can have on the heap begins at a
// multiple of Multiple.
func TestHeapBlocksAreAligned(t *testing.T) {
	sizes := []int{2 * MaxSmall, 2*MaxSmall + 8<<10, 1 << 20, 1<<20 + 8<<10, MaxSize}
	for size := MinSize; size <= MaxSmall; size += Multiple {
		sizes = append(sizes, size)
	}
	tried := 0
	for _, size := range sizes {
		if Check([]int{size}, true) != nil {
			continue
		}
		tried++
		for range 4 { // a page holds several of the small ones
			sink = make([]byte, size)
			if at := reflect.ValueOf(sink).Pointer(); at%Multiple != 0 {
				t.Fatalf("%d bytes begin at %#x", size, at)
			}
		}
	}
	if tried < 60 {
		t.Errorf("%d sizes were tried", tried)
	}
}

func TestLookupEveryN(t *testing.T) {
	tables := map[string][]int{
		"default": Default(),
		"one":     {64},
		"small":   {64, 1024},
		"wide":    {128, 4096, 32768, 40960, 4 << 20, 64 << 20},
		"most":    most(),
		"any":     {65, 100, 1023, 1232, 1452, 4097, 32767, 32769, 65535, 122881, 131071, 131073},
	}
	for name, classes := range tables {
		t.Run(name, func(t *testing.T) {
			table := New(classes)
			want := 0 // the reference: both walk upward
			for n := 0; n <= 4<<20; n++ {
				for want < len(classes) && classes[want] < n {
					want++
				}
				got, ok := table.Index(n)
				if int(got) != want || ok != (want < len(classes)) {
					t.Fatalf("Index(%d) = %d, %v; want %d", n, got, ok, want)
				}
				if n <= MaxSmall {
					slot, size := 0, 0
					if n > 0 && want < len(classes) && classes[want] <= MaxSmall {
						slot, size = want+1, classes[want]
					}
					if last := want - 1; n > 0 && last >= 0 && (classes[last]-1)/Multiple == (n-1)/Multiple { // its step has a smaller one
						slot, size = want, classes[last]
					}
					if got := table.OfSmall(uint(n)); int(got.Slot()) != slot*SlotSize || int(got.Size()) != size || slot > 0 && int(got.Index()) != slot-1 {
						t.Fatalf("OfSmall(%d) = slot %d, index %d of %d bytes, want slot %d of %d", n, got.Slot(), got.Index(), got.Size(), slot, size)
					}
				}
				if n > MaxSmall && n <= MaxLarge {
					got := table.OfLarge(uint(n))
					if found := int(got.Size()) >= n; found && int(got.Index()) != want || !found && isAloneInStep(classes, want, n) {
						t.Fatalf("OfLarge(%d) = slot %d of %d bytes, want class %d", n, got.Slot(), got.Size(), want)
					}
				}
				floor := want - 1
				if want < len(classes) && classes[want] == n {
					floor = want
				}
				if got, ok := table.Floor(n); ok != (floor >= 0) || ok && int(got) != floor {
					t.Fatalf("Floor(%d) = %d, %v; want %d", n, got, ok, floor)
				}
				isClass := want < len(classes) && classes[want] == n
				if _, ok := table.Exact(n); ok != isClass {
					t.Fatalf("Exact(%d) = %v, want %v", n, ok, isClass)
				}
			}
		})
	}
}

// isAloneInStep reports whether OfLarge must know that class i is that of n: it is not too large,
// and no other is in n's step.
func isAloneInStep(classes []int, i, n int) bool {
	in := func(i int) bool { return i >= 0 && i < len(classes) && (classes[i]-1)/largeStep == (n-1)/largeStep }
	return i < len(classes) && classes[i] <= MaxLarge && !in(i-1) && !in(i+1)
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
		{"on the heap any size", []int{64, 65, 1232, 1452, 7168, 40000, 65535, 65537}, true, nil},
		{"two of one Go size", []int{64, 1452, 1500, 7168, 8192}, true, []string{
			"classes 1452 and 1500: Go allocates 1536 bytes for either; remove 1452",
			"classes 7168 and 8192: Go allocates 8192 bytes for either; remove 7168"}},
		{"two of the same pages", []int{57345, 65535}, true, []string{"classes 57345 and 65535: Go allocates 65536 bytes"}},
		{"odd", []int{100}, false, []string{"class 100: outside the Go heap a block size is a multiple of 16; use 96 or 112"}},
		{"odd, beside a class", []int{96, 100}, false, []string{"use 112"}},
		{"odd, between classes", []int{64, 65, 80}, false, []string{"class 65: outside the Go heap a block size is a multiple of 16; remove it, 64 and 80 are classes already"}},
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

// Every size that an error suggests is accepted, alone and with the classes that were
// given.
func TestCheckSuggestsWhatItAccepts(t *testing.T) {
	suggested := regexp.MustCompile(`use (?:(\d+) or )?(\d+)$`)
	check := func(size int) {
		const beside = MinSize // a class that must stay
		classes := []int{beside, size}
		errs := Check(classes, false)
		if errs == nil || size <= beside {
			return
		}
		found := suggested.FindStringSubmatch(errs[0].Error())
		if len(errs) != 1 || found == nil {
			t.Fatalf("class %d suggests nothing: %v", size, errs)
		}
		for _, text := range found[1:] {
			instead, err := strconv.Atoi(text)
			if text == "" {
				continue // only one is suggested
			}
			if errs := Check([]int{beside, instead}, false); err != nil || errs != nil {
				t.Fatalf("%v; but of %d: %v", found[0], instead, errs)
			}
		}
	}
	for size := MinSize; size <= 4096; size++ {
		check(size)
	}
	for _, size := range []int{1000, 1500, 65535, 1<<20 - 1, 1<<20 + 1, MaxSize - 1, MaxSize - Multiple} {
		check(size)
	}
}

// What Allocated says is what the collector accounts.
func TestAllocated(t *testing.T) {
	classes := []int{65, 1232, 1452, 7168, 40000, 65535}
	for i, got := range Allocated(classes) {
		if want := allocated(classes[i]); got != want {
			t.Errorf("class %d: %d bytes, but Go allocates %d", classes[i], got, want)
		}
	}
}

// The sizes that a metric tells are all that Go allocates: the first byte beyond one takes the next.
func TestGoSizes(t *testing.T) {
	from, sizes := 1, goSizes()
	for _, size := range sizes {
		if least, most := tried(from), tried(size); least != size || most != size {
			t.Errorf("objects of %d to %d bytes: Go allocates %d and %d", from, size, least, most)
		}
		from = size + 1
	}
	if from != MaxSmall+1 {
		t.Errorf("%d sizes, to %d, want them to %d", len(sizes), from-1, MaxSmall)
	}
	for _, size := range []int{1, 100, 1500, 7168, MaxSmall - 1, MaxSmall} { // and so where there is no metric
		if got, want := tried(size), goSize(size); got != want {
			t.Errorf("%d bytes: a trial says %d, the metric %d", size, got, want)
		}
	}
}
