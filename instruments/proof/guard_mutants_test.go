package proof

import (
	"bytes"
	"testing"
)

const guardDir = "../../internal/guardpage"

// guardMutants are bugs of guarded blocks that a test there must find, which stands for a scenario: it is one
// goroutine, and comes in between where the code lets go of its lock.
var guardMutants = []Mutant{
	{
		Name: "asked-under-the-lock", File: "proof.go", Scenarios: []string{"TestAsksWithoutLock"},
		Old: "	g.mu.Unlock()\n	who := g.sys.touches()\n	unasked := g.sys.unasked()\n	g.mu.Lock()\n",
		New: "	who := g.sys.touches()\n	unasked := g.sys.unasked()\n",
	},
	{
		Name: "last-answer-stays", File: "proof.go", Scenarios: []string{"TestNewestAnswerStays"},
		Old: "	if question < g.answered {\n		return\n	}\n",
		New: "",
	},
	{
		Name: "asks-while-it-puts", File: "guard.go", Scenarios: []string{"TestAsksWithoutLock"},
		Old: "	instead, r.instead = r.instead, nil\n",
		New: "	g.ask()\n	instead, r.instead = r.instead, nil\n",
	},
	{
		Name: "believes-while-it-puts", File: "guard.go", Scenarios: []string{"TestAsksWithoutLock"},
		Old: "	if !g.takeAway(pages) {\n",
		New: "	left = g.believed(left)\n	if !g.takeAway(pages) {\n",
	},
	{
		Name: "leaves-hidden", File: "guard.go", Scenarios: []string{"TestHides"},
		Old: "	if g.setting.Fault {\n		g.open(r.pages)\n	}\n",
		New: "",
	},
	{
		Name: "faults-only-if-proven", File: "proof.go", Scenarios: []string{"TestHides"},
		Old: "	case g.setting.Fault:\n		return true // ",
		New: "	// ",
	},
	{
		Name: "half-hidden", File: "guard.go", Scenarios: []string{"TestRefusesToHide"},
		Old: "		g.open(pages)\n",
		New: "",
	},
	{
		Name: "shut-is-collected", File: "guard.go", Scenarios: []string{"TestRefusesToOpen"},
		Old: "		g.shut = append(g.shut, pages)\n",
		New: "",
	},
	{
		Name: "hides-after-the-end", File: "guard.go", Scenarios: []string{"TestRefusesToOpen"},
		Old: "return g.off == \"\" && g.hide(pages)",
		New: "return g.hide(pages)",
	},
	{
		Name: "explains-what-is-out", File: "guard.go", Scenarios: []string{"TestFaultIsExplained"},
		Old: "	if r == nil || !r.isIdle() {\n",
		New: "	if r == nil {\n",
	},
	{
		Name: "cut-twice", File: "region.go", Scenarios: []string{"TestRegion"},
		Old: "				row[i] = true\n",
		New: "				row[i] = i > 0\n",
	},
	{
		Name: "cut-as-it-was", File: "region.go", Scenarios: []string{"TestRegion"},
		Old: "			clear(pages)\n",
		New: "",
	},
	{
		Name: "never-cut-again", File: "guard.go", Scenarios: []string{"TestRegion"},
		Old: "		g.region.free(r.at-uintptr(r.mark), r.bytes)\n",
		New: "		_ = g.region\n",
	},
	{
		Name: "watches-what-was-not-cut", File: "guard.go", Scenarios: []string{"TestRegionComesAndGoes"},
		Old: " || r.cut != g.unasked {\n",
		New: " {\n",
	},
	{
		Name: "believes-while-that-changes", File: "proof.go", Scenarios: []string{"TestRegionComesAndGoes"},
		Old: "		if g.answered != 0 && who == \"\" {\n",
		New: "		if false {\n",
	},
	{
		Name: "copies-nothing-back", File: "guard.go", Scenarios: []string{"TestContents"},
		Old: "	if r.carries {\n		copy(instead[:r.size], pages[r.mark:])\n	}\n",
		New: "",
	},
	{
		Name: "copies-what-has-gone", File: "guard.go", Scenarios: []string{"TestContents"},
		Old: "		g.found = append(g.found, left...)\n",
		New: "		g.found = append(g.found, left...)\n		copy(instead[:r.size], pages[r.mark:])\n",
	},
}

// TestGuardMutantsAreFound is TestMutantsAreFound for guarded blocks.
func TestGuardMutantsAreFound(t *testing.T) {
	startsProcesses(t)
	for _, m := range chosen(t, guardMutants) {
		t.Run(m.Name, func(t *testing.T) {
			for _, test := range m.Scenarios {
				out, err := testWith(t, mutate(t, m, guardDir), guardDir, test)
				if err == nil || !bytes.Contains(out, []byte("--- FAIL: "+test)) {
					t.Errorf("%s does not find it: %v\n%s", test, err, out)
				}
			}
		})
	}
}
