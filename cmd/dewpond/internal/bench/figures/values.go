package figures

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/bars"
)

// Values returns a figure of the contenders that have it, for a chart that compares them.
func Values(d bench.Document, name string) []bars.Value {
	var out []bars.Value
	for i := range d.Contenders {
		c := &d.Contenders[i]
		if f, ok := Of(c, name); ok {
			out = append(out, bars.Value{Name: c.Name, Ours: c.Name == bench.Ours, Figure: f})
		}
	}
	return out
}
