package experiments

import (
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestSymbols(t *testing.T) {
	for _, c := range symbols.Claims {
		for _, l := range lookedFor {
			if standing := experiment.At(l.name, "found"); c.Reach.Holds[standing] != experiment.At(l.control, "found") {
				continue
			}
			made := func(found, control float64) figures {
				return figures{l.name: {"found": found}, l.control: {"found": control}}
			}
			judges(t, c.ID, 0, made(1, 1), experiment.Reproduced)
			judges(t, c.ID, 0, made(0, 1), experiment.NotReproduced)
			judges(t, c.ID, 0, made(0, 0), experiment.CannotTell)
			if f := c.Judge(experiment.MadeUp(0, made(0, 1))); f.Why != l.wrong || (l.listing != "") != strings.HasSuffix(f.Measured, "does not compile") {
				t.Errorf("%s: it says %q: %q", c.ID, f.Measured, f.Why)
			}
		}
	}
}
