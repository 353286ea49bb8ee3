package workload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
)

// A Mix says which block sizes are asked for, and how often.
type Mix []Share

// A Share is one size of a Mix: Percent of the operations ask for Size bytes.
type Share struct{ Size, Percent int }

const mixForm = "give size:percent pairs whose percents add up to 100, such as 128:70,8192:30"

// ParseMix reads "128:70,8192:30".
func ParseMix(text string) (Mix, error) {
	var m Mix
	var errs []error
	sum := 0
	for _, part := range strings.Split(text, ",") {
		size, percent, ok := strings.Cut(part, ":")
		s, errSize := strconv.Atoi(size)
		p, errPercent := strconv.Atoi(percent)
		switch {
		case !ok || errSize != nil || errPercent != nil:
			errs = append(errs, fmt.Errorf("%q is not a size:percent pair: %s", part, mixForm))
		case s < 1 || s > contender.Largest:
			errs = append(errs, fmt.Errorf("size %d in %q: give 1 to %d bytes", s, part, contender.Largest))
		case p < 1 || p > 100:
			errs = append(errs, fmt.Errorf("percent %d in %q: give 1 to 100", p, part))
		}
		sum += p
		m = append(m, Share{s, p})
	}
	if errs == nil && sum != 100 {
		errs = append(errs, fmt.Errorf("the percents of %q add up to %d: %s", text, sum, mixForm))
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	return m, nil
}

func (m Mix) String() string {
	var parts []string
	for _, s := range m {
		parts = append(parts, fmt.Sprintf("%d:%d", s.Size, s.Percent))
	}
	return strings.Join(parts, ",")
}

// sizes returns a table with a size for each percent, to draw a size with one random number.
func (m Mix) sizes() (table [100]int) {
	i := 0
	for _, s := range m {
		for range s.Percent {
			table[i] = s.Size
			i++
		}
	}
	return table
}

// mean returns the mean size of a block.
func (m Mix) mean() float64 {
	sum := 0.0
	for _, s := range m {
		sum += float64(s.Size*s.Percent) / 100
	}
	return sum
}

// largest returns the largest size in the mix.
func (m Mix) largest() int {
	n := 0
	for _, s := range m {
		n = max(n, s.Size)
	}
	return n
}
