package sizeclass

import (
	"strconv"
	"strings"
	"testing"
)

// Every number of elements finds the smallest class that holds it, and a class is told from
// every other number.
func TestLookupEveryNumberOfElements(t *testing.T) {
	for _, size := range []int{1, 2, 3, 5, 7, 8, 12, 15, 16, 17, 24, 33, 40, 100, 1000, 8 << 10, 32 << 10, 300_000, 1 << 20} {
		tables := [][]int{DefaultElements(size)}
		if size == 12 {
			tables = append(tables, []int{4, 5, 6, 8, 9, 10, 12}) // all steps there are
		}
		for _, classes := range tables {
			if errs := CheckElements(classes, size); errs != nil {
				t.Fatalf("elements of %d bytes: %v", size, errs)
			}
			var bytes []int
			for _, n := range classes {
				bytes = append(bytes, n*size)
			}
			table := New(bytes)
			want := 0
			for n := 0; n <= classes[len(classes)-1]+1; n++ {
				for want < len(classes) && classes[want] < n {
					want++
				}
				got, ok := table.Index(n * size)
				if int(got) != want || ok != (want < len(classes)) {
					t.Fatalf("%d elements of %d bytes: Index is %d, %v; want %d", n, size, got, ok, want)
				}
				if n*size <= MaxSmall {
					slot, of := 0, 0
					if n > 0 && want < len(classes) && bytes[want] <= MaxSmall {
						slot, of = want+1, bytes[want]
					}
					if got := table.OfSmall(uint(n * size)); int(got.Slot()) != slot*SlotSize || int(got.Size()) != of {
						t.Fatalf("%d elements of %d bytes: OfSmall is slot %d of %d bytes, want %d of %d", n, size, got.Slot(), got.Size(), slot, of)
					}
				}
			}
		}
	}
}

// A class of the default is as many elements as a default class in bytes holds, and each of
// those has one, unless a smaller one holds as many.
func TestDefaultElements(t *testing.T) {
	for size := 1; size <= defaults[len(defaults)-1]; size += 1 + size/16 {
		classes, i := DefaultElements(size), 0
		if errs := CheckElements(classes, size); errs != nil {
			t.Fatalf("elements of %d bytes: %v", size, errs)
		}
		for _, bytes := range defaults {
			n := bytes / size
			if i > 0 && classes[i-1] == n || n == 0 {
				continue
			}
			if i == len(classes) || classes[i] != n {
				t.Fatalf("elements of %d bytes: %d of them have no class: %v", size, n, classes)
			}
			i++
		}
		if i != len(classes) {
			t.Fatalf("elements of %d bytes have %d classes, want %d", size, len(classes), i)
		}
	}
	if classes := DefaultElements(defaults[len(defaults)-1] + 1); classes != nil {
		t.Errorf("elements larger than any class have classes %v", classes)
	}
}

func TestCheckElements(t *testing.T) {
	for _, tt := range []struct {
		name    string
		classes []int
		size    int
		want    []string // one for each error, in order
	}{
		{"float64", []int{4, 10, 1000}, 8, nil},
		{"one", []int{1}, 32, nil},
		{"largest", []int{MaxSize}, 1, nil},
		{"none", []int{}, 8, []string{"no class"}},
		{"between steps", []int{4, 7}, 8, []string{"class 7: elements of 8 bytes are pooled in steps of 16 bytes; use 8"}},
		{"bytes", []int{100}, 1, []string{"use 112"}},
		{"tiny and huge", []int{3, 8<<20 + 2}, 8, []string{"class 3: a class of elements of 8 bytes is 4 to 8388608 elements", "class 8388610"}},
		{"descending", []int{8, 4, 4}, 24, []string{"class 4 after 8", "class 4 after 4"}},
		{"negative", []int{-4}, 8, []string{"class -4"}},
		{"too many", upTo(MaxClasses + 1), 16, []string{"129 classes: at most 128"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			errs := CheckElements(tt.classes, tt.size)
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

// upTo returns n classes, without a gap.
func upTo(n int) (classes []int) {
	for i := range n {
		classes = append(classes, 2+i)
	}
	return classes
}

// Every class that an error suggests is accepted.
func TestCheckElementsSuggestsWhatItAccepts(t *testing.T) {
	for size := 1; size < 40; size++ {
		for n := (minSliceSize + size - 1) / size; n < 300; n++ {
			errs := CheckElements([]int{n}, size)
			if errs == nil {
				continue
			}
			_, number, _ := strings.Cut(errs[0].Error(), "use ")
			instead, err := strconv.Atoi(number)
			if more := CheckElements([]int{instead}, size); err != nil || more != nil || instead <= n {
				t.Fatalf("class %d of %d bytes: %v; but: %v", n, size, errs[0], more)
			}
		}
	}
}
