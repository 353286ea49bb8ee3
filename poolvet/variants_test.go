package poolvet_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/dewpond/dewpond/poolvet"
)

var update = flag.Bool("update", false, "write the table of variants in docs/poolvet.md")

// A tally counts the variants of one kind.
type tally struct{ bad, found, right, accused int }

// TestVariants holds the table in docs/poolvet.md to be what the checks find in testdata/src/variants: programs that
// were written from public reports, by an author without the code of the checks.
func TestVariants(t *testing.T) {
	ofSync(t)
	if err := poolvet.MissingPut.Flags.Set("sync", "false"); err != nil { // as by default
		t.Fatal(err)
	}
	shapes := analysistest.Run(t, analysistest.TestData(), together(poolvet.Analyzers()...), "./src/variants/...")
	findings := map[string]int{}
	for _, r := range shapes {
		findings[r.Pass.Pkg.Name()] += len(r.Diagnostics)
	}
	list, err := os.ReadFile("testdata/src/variants/kinds.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	tallies := map[string]*tally{}
	all := &tally{}
	for i, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		columns := strings.Split(line, "\t")
		if i == 0 {
			continue
		}
		name, kind := columns[0], columns[1]
		if _, looked := findings[name]; !looked {
			t.Errorf("%s is in kinds.tsv, and no package", name)
		}
		if tallies[kind] == nil {
			tallies[kind] = &tally{}
			kinds = append(kinds, kind)
		}
		for _, sum := range []*tally{tallies[kind], all} {
			sum.add(strings.HasPrefix(name, "bad"), findings[name] > 0)
		}
	}
	if all.bad+all.right != len(findings) {
		t.Errorf("kinds.tsv has %d variants, of %d packages", all.bad+all.right, len(findings))
	}
	var table strings.Builder
	table.WriteString("| kind | found of bad | false of right |\n| --- | --- | --- |\n")
	for _, kind := range kinds {
		fmt.Fprintf(&table, "| %s | %s |\n", kind, tallies[kind])
	}
	fmt.Fprintf(&table, "| all | %s |\n", all)
	inDocument(t, filepath.Join("..", "docs", "poolvet.md"), "variants", table.String())
}

func (c *tally) add(bad, found bool) {
	switch {
	case bad && found:
		c.bad, c.found = c.bad+1, c.found+1
	case bad:
		c.bad++
	case found:
		c.right, c.accused = c.right+1, c.accused+1
	default:
		c.right++
	}
}

func (c *tally) String() string {
	return fmt.Sprintf("%d of %d | %d of %d", c.found, c.bad, c.accused, c.right)
}

// inDocument holds a document to have a text between two comments with a name, or writes it.
func inDocument(t *testing.T, file, name, text string) {
	t.Helper()
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	before, rest, ok := strings.Cut(string(old), begin)
	is, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Errorf("%s has no %q and %q", file, begin, end)
	case is == text:
	case *update:
		if err := os.WriteFile(file, []byte(before+begin+text+end+after), 0o644); err != nil {
			t.Error(err)
		}
	default:
		t.Errorf("%s has\n%s\nwant\n%s\ngo test -run Variants -update writes it", file, is, text)
	}
}
