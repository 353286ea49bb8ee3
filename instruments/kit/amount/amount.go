// Package amount reads and writes numbers of bytes, and rates, as people give them to a command: "100MB",
// "64KiB", "50/s". Figures in a report are package figure's, which rounds them.
package amount

import (
	"fmt"
	"strconv"
	"strings"
)

// units are the units that an amount may have. Of two that end alike the longer one comes first.
var units = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1}, {"", 1}}

// most is the largest amount that Parse takes, in bytes.
const most = 1e12

// Parse reads a number of bytes such as "0", "100MB" or "1.5 GiB".
func Parse(text string) (int64, error) {
	for _, u := range units {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if v *= float64(u.bytes); err != nil || !(v >= 0) || v > most {
				break
			}
			return int64(v), nil
		}
	}
	return 0, fmt.Errorf("%q is not an amount of bytes: give a number with kB, MB, GB, KiB, MiB or GiB, such as 100MB, up to 1000GB", text)
}

// Text formats a number of bytes as Parse reads it, exactly and as short as can be.
func Text(n int64) string {
	shortest := strconv.FormatInt(n, 10)
	for _, u := range units {
		if text := strconv.FormatInt(n/u.bytes, 10) + u.name; n > 0 && n%u.bytes == 0 && len(text) < len(shortest) {
			shortest = text
		}
	}
	return shortest
}
