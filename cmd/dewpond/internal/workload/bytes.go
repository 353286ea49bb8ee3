package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseBytes reads a number of bytes such as "0", "100MB" or "64KiB".
func ParseBytes(text string) (int64, error) {
	units := []struct {
		suffix string
		bytes  float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}
	for _, u := range units {
		if number, ok := strings.CutSuffix(text, u.suffix); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil || !(v >= 0) || v*u.bytes > 1e12 {
				break
			}
			return int64(v * u.bytes), nil
		}
	}
	return 0, fmt.Errorf("%q is not an amount of bytes: give a number with kB, MB, GB, KiB, MiB or GiB, such as 100MB, up to 1000GB", text)
}
