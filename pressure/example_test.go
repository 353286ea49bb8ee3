package pressure_test

import (
	"fmt"

	"github.com/dewpond/dewpond/pressure"
)

// A cache that is no pool gives its memory up when memory is scarce.
func Example() {
	cache := map[string][]byte{"a": make([]byte, 1<<20)}
	levels := make(chan pressure.Level, 1)
	stop := pressure.Watch(func(level pressure.Level) { levels <- level })
	defer stop()

	force(pressure.High) // here a test; in a program, a limit that is near
	if level := <-levels; level == pressure.High {
		clear(cache)
	}
	fmt.Println(len(cache), pressure.Current())
	force(pressure.Low)
	// Output: 0 high
}
