package flow

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
)

// analyze runs the flow on a package of one file that imports nothing.
func analyze(t *testing.T, src string) *flowPass {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "a.go", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}
	pkg, err := new(types.Config).Check("bounds.example", fset, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	a := newFlowPass(&analysis.Pass{
		Fset: fset, Files: []*ast.File{file}, Pkg: pkg, TypesInfo: info, TypesSizes: types.SizesFor("gc", "amd64"),
		ImportObjectFact: func(types.Object, analysis.Fact) bool { return false },
		ExportObjectFact: func(types.Object, analysis.Fact) {},
	})
	if _, err := a.run(); err != nil {
		t.Fatal(err)
	}
	return a
}

const pooled = `package bounds

type pool interface {
	//poolvet:gets
	take() []byte
	//poolvet:puts b
	give(b []byte)
}

func late(p pool) {
	b := p.take()
	p.give(b)
	b[0] = 1
}
`

// lateOnly fails unless what late does is found, and nothing else.
func (a *flowPass) lateOnly(t *testing.T) {
	t.Helper()
	if f := a.result.Findings; len(f) != 1 || !strings.Contains(f[0].Message, "b is written after its Put") {
		t.Errorf("found %v", f)
	}
}

// A function is looked at up to a number of nodes of its syntax, and not from there on.
func TestGivenUpForItsSize(t *testing.T) {
	sized := func(statements int) *flowPass {
		return analyze(t, pooled+"\nfunc large() (n int) {\n"+strings.Repeat("\tn++\n", statements)+"\treturn\n}\n")
	}
	nodes := func(statements int) int { return 1 + 2*statements + 1 } // the block, each n++ and its n, and return
	most := (tooLarge - 2) / 2
	for _, c := range []struct{ statements, left int }{{most, 0}, {most + 1, 1}} {
		a := sized(c.statements)
		if got := a.result.GivenUp; len(got) != c.left {
			t.Errorf("%d nodes: gave up on %q", nodes(c.statements), got)
		} else if want := fmt.Sprintf("a.go:16:1: large has %d nodes of syntax, which is too large: it was not looked at", nodes(c.statements)); c.left > 0 && got[0] != want {
			t.Errorf("gave up with %q, want %q", got[0], want)
		}
		a.lateOnly(t)
	}
}

// A function with many Puts and many ways behind them has its share of steps, and no more; others
// have theirs.
func TestGivenUpForItsWays(t *testing.T) {
	var many strings.Builder
	many.WriteString("\nfunc interpret(p pool, ops []int")
	for i := range 40 {
		fmt.Fprintf(&many, ", on%d", i)
	}
	many.WriteString(" bool) {\n\tfor _, op := range ops {\n\t\tswitch op {\n")
	for i := range 300 {
		fmt.Fprintf(&many, "\t\tcase %d:\n\t\t\tb := p.take()\n\t\t\tp.give(b)\n", i)
	}
	many.WriteString("\t\t}\n")
	for i := range 80 { // a condition that is tested twice makes two ways of each
		fmt.Fprintf(&many, "\t\tif on%d {\n\t\t\tops[0]++\n\t\t}\n", i%40)
	}
	many.WriteString("\t}\n}\n")

	a := analyze(t, pooled+many.String())
	for _, f := range a.fns {
		spent := a.spent[f]
		switch f.Name() {
		case "interpret":
			if most := mostSpent + 1_000; spent < mostSpent || spent > most {
				t.Errorf("%s took %d steps, want from %d to %d", f.Name(), spent, mostSpent, most)
			}
		default:
			if spent > 1_000 {
				t.Errorf("%s took %d steps", f.Name(), spent)
			}
		}
	}
	want := fmt.Sprintf("a.go:16:6: interpret has more ways than %d steps take: it was not looked at to the end", mostSpent)
	if got := a.result.GivenUp; len(got) != 1 || got[0] != want {
		t.Errorf("gave up on %q, want %q", got, want)
	}
	a.lateOnly(t)
}

// error.Error is a method of no package, which a method expression calls by its name.
func TestMethodOfNoPackage(t *testing.T) {
	analyze(t, pooled+"\nfunc text(err error) string { return error.Error(err) }\n").lateOnly(t)
}
