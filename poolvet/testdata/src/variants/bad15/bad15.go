// Package bad15 validates samples at an ingester.
package bad15

import (
	"fmt"
	"strings"
	"sync"
)

// Label is a pair.
type Label struct{ Name, Value string }

var labelPool = sync.Pool{
	New: func() any {
		s := make([]Label, 0, 32)
		return &s
	},
}

// SeriesError tells which series was refused.
type SeriesError struct {
	Reason string
	Labels []Label
}

func (e *SeriesError) Error() string {
	var sb strings.Builder
	for _, l := range e.Labels {
		fmt.Fprintf(&sb, "%s=%q ", l.Name, l.Value)
	}
	return e.Reason + ": " + strings.TrimSpace(sb.String())
}

// Ingester counts series.
type Ingester struct {
	mu     sync.Mutex
	counts map[string]int
	limit  int
}

// Push takes one sample for a series in "a=b,c=d" form.
func (in *Ingester) Push(series string) error {
	lp := labelPool.Get().(*[]Label)
	labels := (*lp)[:0]
	defer func() {
		*lp = labels[:0]
		labelPool.Put(lp)
	}()
	for part := range strings.SplitSeq(series, ",") {
		n, v, _ := strings.Cut(part, "=")
		labels = append(labels, Label{n, v})
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(labels) == 0 || in.counts[series] >= in.limit {
		return &SeriesError{Reason: "limit reached", Labels: labels[:min(4, len(labels))]} // want `\(returnput\)`
	}
	in.counts[series]++
	return nil
}
