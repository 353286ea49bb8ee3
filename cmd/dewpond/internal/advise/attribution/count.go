package attribution

import "github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"

// Count returns how many samples are of some kinds together.
func (c *Counter) Count(kinds ...string) int64 {
	n := int64(0)
	for i, k := range Kinds {
		for _, name := range kinds {
			if k.Name == name {
				n += c.by[i]
			}
		}
	}
	return n
}

// Share returns the share of the processors' time that so many samples are.
func (c *Counter) Share(n int64) estimate.Estimate { return share(n, c.samples) }
