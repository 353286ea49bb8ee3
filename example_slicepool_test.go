package dewpond_test

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dewpond/dewpond"
)

// Rank the candidates of a request in a slice that the next request uses again. Put clears
// it, so an idle slice keeps no name alive.
func ExampleSlicePool() {
	type candidate struct {
		Name  string
		Score int
	}
	pool := dewpond.MustSlicePool(dewpond.SlicePoolOptions[candidate]{Name: "candidates"})
	defer pool.Close()

	best := func(names ...string) string {
		found := pool.Get(len(names))
		defer pool.Put(found)
		for i, name := range names {
			found[i] = candidate{name, len(name)}
		}
		slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.Score, a.Score) })
		return found[0].Name
	}
	fmt.Println(best("ada", "grace", "joan"))
	fmt.Println(best("barbara", "frances"))
	fmt.Println(pool.Stats().InUseBytes, "bytes in use")
	// Output:
	// grace
	// barbara
	// 0 bytes in use
}

// Where nobody knows how many there will be, Append grows: it takes a larger slice from the
// pool and puts the smaller one back.
func ExampleSlicePool_Append() {
	pool := dewpond.MustSlicePool(dewpond.SlicePoolOptions[float64]{Name: "samples"})
	defer pool.Close()

	samples := pool.Get(0)
	for i := range 1000 {
		samples = pool.Append(samples, float64(i))
	}
	fmt.Println(len(samples), slices.Max(samples))
	pool.Put(samples)
	s := pool.Stats()
	fmt.Println(s.InUseBytes, s.Dropped.Foreign)
	// Output:
	// 1000 999
	// 0 0
}

// Others append, and nobody knows how many there will be: the pool learns it, and adopts the
// slices that append has made.
func ExampleSlicePool_Bodies() {
	pool := dewpond.MustSlicePool(dewpond.SlicePoolOptions[string]{Name: "labels"})
	defer pool.Close()
	lists := pool.Bodies()

	for range 1000 {
		labels := lists.Get()
		for i := range 200 {
			labels = append(labels, fmt.Sprint("label ", i%10))
		}
		lists.Put(labels)
	}
	s := pool.Stats()
	fmt.Println(s.Adopted > 0, s.InUseBytes, "bytes in use")
	// Output: true 0 bytes in use
}

// Keep in a slice what is costly to make again. Here each element has a buffer, which
// Reset empties and leaves where it is.
func ExampleSlicePoolOptions_reset() {
	type row struct{ cells []byte }
	pool := dewpond.MustSlicePool(dewpond.SlicePoolOptions[row]{
		Name:    "rows",
		Classes: []int{16},
		Reset: func(rows []row) { // called with all 16
			for i := range rows {
				rows[i].cells = rows[i].cells[:0]
			}
		},
	})
	defer pool.Close()

	empty := true
	for range 100 {
		rows := pool.Get(10)
		for i := range rows {
			if rows[i].cells == nil { // the slice is a new one
				rows[i].cells = make([]byte, 0, 512)
			}
			empty = empty && len(rows[i].cells) == 0
			rows[i].cells = append(rows[i].cells, "a row"...)
		}
		pool.Put(rows)
	}
	fmt.Println("1000 rows, each empty at first:", empty)
	// Output: 1000 rows, each empty at first: true
}
