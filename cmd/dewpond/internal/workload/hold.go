package workload

import (
	"fmt"
	"runtime"
	"time"
)

// A Hold is what an owner does between Get and Put besides writing: nothing, let other
// goroutines run (Yield), pass the block to another goroutine, which puts it back (Pass), or wait.
// The zero Hold does nothing.
type Hold struct {
	Yield bool
	Pass  bool
	Wait  time.Duration
}

// ParseHold reads "none", "yield", "pass" or a duration.
func ParseHold(text string) (Hold, error) {
	switch text {
	case "none":
		return Hold{}, nil
	case "yield":
		return Hold{Yield: true}, nil
	case "pass":
		return Hold{Pass: true}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return Hold{}, fmt.Errorf("unknown hold %q: valid are none, yield (let other goroutines run), pass (to a goroutine that puts the block back) and a duration such as 100us", text)
	}
	return Hold{Wait: d}, nil
}

func (h Hold) String() string {
	switch {
	case h.Yield:
		return "yield"
	case h.Pass:
		return "pass"
	case h.Wait > 0:
		return h.Wait.String()
	}
	return "none"
}

func (h Hold) hold() {
	switch {
	case h.Yield:
		runtime.Gosched()
	case h.Wait > 0:
		time.Sleep(h.Wait)
	}
}
