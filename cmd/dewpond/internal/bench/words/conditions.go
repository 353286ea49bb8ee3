package words

import (
	"fmt"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// Conditions returns what a reader must know to repeat or to doubt the figures, as pairs of a name
// and a value.
func Conditions(d bench.Document) [][2]string {
	e, s := d.Environment, d.Scenario
	scenario := []string{s.Name}
	add := func(format string, v any, said bool) {
		if said {
			scenario = append(scenario, fmt.Sprintf(format, v))
		}
	}
	if s.Mode == "paced" {
		add("%s operations a second", figure.Number(s.Rate), true)
	} else {
		add("%s loop", s.Mode, s.Mode != "")
		add("%s arrivals a second", figure.Number(s.Rate), s.Rate > 0)
	}
	add("%s", figure.Several(s.Goroutines, "goroutine"), s.Goroutines > 0)
	add("mix %s", s.Mix, s.Mix != "")
	add("hold %s", s.Hold, s.Hold != "")
	add("garbage %s", figure.Amount(s.Garbage), s.Garbage != "")
	add("live heap %s", figure.Amount(s.Live), s.Live != "")
	add("memory limit %s", figure.Amount(s.MemoryLimit), s.MemoryLimit != "")
	add("%s held", figure.Several(s.Blocks, "block"), s.Blocks > 0 && s.Every == "")
	add("%s", figure.Several(s.Bursts, "burst"), s.Bursts > 0)
	add("%s of each written", figure.Amount(s.Written), s.Written != "")
	add("requests of %s between bursts", figure.Amount(s.SecondSize), s.SecondSize != "")
	add("%s in a burst", figure.Several(s.Blocks, "block"), s.Blocks > 0 && s.Every != "")
	add("a burst every %s", s.Every, s.Every != "")
	add("%s of each misuse", figure.Several(s.Seeds, "seed"), s.Seeds > 0)
	add("up to %s after Put", s.Late, s.Late != "")
	add("bound %s", figure.Amount(s.Limit), s.Limit != "")
	add("%sx what the bound allows", figure.Significant(s.Times), s.Times > 0)
	add("IdleTimeout %s", s.IdleTimeout, s.IdleTimeout != "")
	add("%s between bursts", figure.Several(s.Collections, "collection"), s.Collections > 0)
	add("%s", rounds(s), s.Rounds > 0)
	add("1 in %d operations timed", s.Sample, s.Sample > 1)
	add("zeroing: %s", s.Zero, s.Zero != "")
	out := [][2]string{
		{"scenario", strings.Join(scenario, "; ")},
		{"machine", fmt.Sprintf("%s, %s, %s/%s", e.Machine, figure.Several(e.CPUs, "CPU"), e.OS, e.Arch)},
		{"Go", fmt.Sprintf("%s, GOMAXPROCS=%d GOGC=%s GOMEMLIMIT=%s", e.GoVersion, e.GOMAXPROCS, e.GOGC, e.GOMEMLIMIT)},
		{"load", loads(e.LoadAverage) + " at the start, " + e.Time},
	}
	if e.Delays != "" {
		out = append(out, [2]string{"delays", "a test build (dewpond_delay): dewpond takes 10 µs longer in each of these slow paths: " + e.Delays})
	}
	for i, c := range d.Cells {
		out = append(out, [2]string{"cell", c.Name + ": " + Conditions(d.Parts[i])[0][1]})
	}
	for _, c := range d.Contenders {
		if c.Engine != "" {
			out = append(out, [2]string{"engine", c.Name + ": " + c.Engine})
		}
	}
	return append(out, [2]string{"command", CommandLine(d.Command)})
}

func rounds(s bench.Scenario) string {
	out := figure.Several(s.Rounds, "round")
	if s.Duration != "" {
		out += " of " + s.Duration
	}
	return out
}

func loads(l [3]float64) string {
	if l[0] < 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.2f %.2f %.2f", l[0], l[1], l[2])
}

// CommandLine returns the command as a shell accepts it.
func CommandLine(args []string) string {
	var out []string
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`&|;<>()*?[]{}~#!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}
