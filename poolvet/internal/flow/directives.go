package flow

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// Checks are the names that //poolvet:ignore may have.
var Checks = []string{
	"useafterput", "doubleput", "returnput", "wrongput", "lease", "scope", "buffer", "unfit", "needless", "badget", "percall",
	"missingput", "noreset", "overwrite", "deferput",
}

// annotations reads what comments say of functions and of interfaces' methods:
// //poolvet:puts b, gets, keeps b, borrows b.
func (a *flowPass) annotations() map[types.Object]*Summary {
	notes := map[types.Object]*Summary{}
	for _, file := range a.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.FuncDecl:
				a.annotate(notes, a.pass.TypesInfo.Defs[x.Name], x.Doc)
			case *ast.InterfaceType:
				for _, m := range x.Methods.List {
					if len(m.Names) == 1 {
						obj := a.pass.TypesInfo.Defs[m.Names[0]]
						a.annotate(notes, obj, m.Doc)
						if f, ok := obj.(*types.Func); ok && notes[f] != nil {
							a.facts[f] = notes[f]
							a.pass.ExportObjectFact(f, notes[f])
						}
					}
				}
			}
			return true
		})
	}
	return notes
}

func (a *flowPass) annotate(notes map[types.Object]*Summary, obj types.Object, doc *ast.CommentGroup) {
	f, ok := obj.(*types.Func)
	if !ok || doc == nil {
		return
	}
	for _, c := range doc.List {
		text, ok := strings.CutPrefix(c.Text, "//poolvet:")
		if !ok {
			continue
		}
		words := strings.Fields(text)
		if len(words) == 0 || words[0] == "ignore" {
			continue
		}
		s := notes[f]
		if s == nil {
			s = &Summary{}
			notes[f] = s
		}
		n := -1
		if len(words) > 1 {
			n = parameterNamed(f, words[1])
		}
		switch {
		case words[0] == "gets":
			s.Gets = append(s.Gets, 0)
		case words[0] == "puts" && n >= 0:
			s.Puts = append(s.Puts, Ref{Param: n})
		case words[0] == "keeps" && n >= 0:
			s.Keeps = append(s.Keeps, n)
		case words[0] == "borrows" && n >= 0:
			s.Borrows = append(s.Borrows, n)
		default:
			a.report("ignore", c.Pos(), nil, "poolvet has puts, gets, keeps and borrows, each but gets with a parameter's name")
		}
	}
}

func parameterNamed(f *types.Func, name string) int {
	sig := f.Signature()
	offset := 0
	if recv := sig.Recv(); recv != nil {
		if recv.Name() == name {
			return 0
		}
		offset = 1
	}
	for i := range sig.Params().Len() {
		if sig.Params().At(i).Name() == name {
			return i + offset
		}
	}
	return -1
}

// ignore drops the findings that a comment gives a reason for, and reports comments that
// give none or that silence nothing.
func (a *flowPass) ignore() {
	type line struct {
		file string
		line int
	}
	for _, file := range a.pass.Files {
		for _, group := range file.Comments {
			for _, c := range group.List {
				text, ok := strings.CutPrefix(c.Text, "//poolvet:ignore")
				if !ok {
					continue
				}
				words := strings.Fields(text)
				if len(words) == 0 || !slices.Contains(Checks, words[0]) {
					a.report("ignore", c.Pos(), nil, "poolvet:ignore wants the name of a check, then a reason")
					continue
				}
				if len(words) == 1 {
					a.report("ignore", c.Pos(), nil, "poolvet:ignore %s has no reason", words[0])
					continue
				}
				at := a.pass.Fset.Position(c.Pos())
				lines := []line{{at.Filename, at.Line}, {at.Filename, at.Line + 1}}
				before := len(a.result.Findings)
				a.result.Findings = slices.DeleteFunc(a.result.Findings, func(f Finding) bool {
					p := a.pass.Fset.Position(f.Pos)
					return (f.Check == words[0] || f.Check == words[0]+OfSync) && slices.Contains(lines, line{p.Filename, p.Line})
				})
				if len(a.result.Findings) == before {
					a.report("ignore", c.Pos(), nil, "poolvet:ignore %s silences nothing here", words[0])
				}
			}
		}
	}
}
