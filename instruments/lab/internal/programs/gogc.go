package programs

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// A variant is a side of a program, with the environment of its loads.
type variant struct {
	name, side string
	env        []string
}

// sides are all as they run by default.
var sides = []variant{{name: Original, side: Original}, {name: Linked, side: Linked}, {name: Migrated, side: Migrated}}

// gogc has the program as it is first, at the runtime's default, with which the others are compared.
// Idle blocks count as live, so the collector lets the heap grow by GOGC percent of them too: half of the default
// with dewpond may need as little memory as the default without it.
var gogc = []variant{
	{"GOGC=100", Original, []string{"GOGC=100"}},
	{"GOGC=200", Original, []string{"GOGC=200"}},
	{"GOGC=400", Original, []string{"GOGC=400"}},
	{"dewpond, GOGC=50", Migrated, []string{"GOGC=50"}},
	{"dewpond, GOGC=100", Migrated, []string{"GOGC=100"}},
}

// MeasureGOGC measures the loads of a program at several values of GOGC, as it is and with dewpond, all in turn.
// It runs none of the program's tests.
func (b Bench) MeasureGOGC(ctx context.Context, p Program) (Outcome, error) {
	b.LoadsAlone, p.Procs = true, nil
	o, c := b.begin(p)
	defer os.RemoveAll(c.side(""))
	if err := b.prepare(ctx, c, &o); err != nil {
		return o, err
	}
	return o, b.measure(ctx, c, &o, c.Loads, gogc)
}

// GOGC writes what MeasureGOGC has measured as a table in Markdown, with the machines below it.
func GOGC(w io.Writer, r Report) error {
	rows := [][]string{{"program, load", "", "CPU time", "peak RSS", "GC cycles"}}
	for _, o := range r.Outcomes {
		for _, l := range r.program(o).Loads {
			m, name := o.measured(l.Name), o.Program+", "+l.Name
			for _, v := range gogc[1:] {
				row := []string{name, v.name}
				for _, f := range []string{cpu, peak, collections} {
					row = append(row, text(m.Ratio(experiment.At(v.name, f), experiment.At(gogc[0].name, f))))
				}
				rows, name = append(rows, row), ""
			}
		}
	}
	columns.Markdown(w, rows)
	for _, o := range r.Outcomes {
		if _, err := fmt.Fprintf(w, "\n- %s", o.machine(o.pairs(r.program(o)))); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n- Ratios to %s of the program as it is.\n", gogc[0].name)
	return err
}

// pairs returns the most rounds of a load that are compared.
func (o Outcome) pairs(p Program) (pairs int) {
	for _, l := range p.Loads {
		m := o.measured(l.Name)
		pairs = max(pairs, m.Ratio(experiment.At(gogc[1].name, peak), experiment.At(gogc[0].name, peak)).Rounds)
	}
	return pairs
}
