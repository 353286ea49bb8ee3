package repocheck

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

const hacking = "HACKING.md"

// explorer is the directory of the scenarios that HACKING.md names.
const explorer = "instruments/proof/explore"

var (
	codeName     = regexp.MustCompile("`([^`\\s]+)`")
	testName     = regexp.MustCompile(`^(Test|Benchmark|Fuzz)\w+$`)
	scenarioName = regexp.MustCompile(`^([a-z][a-z0-9-]*)\*$`)
)

// checkHacking requires that the files, tests and scenarios in the table of HACKING.md
// exist, and that its picture shows what imports what.
func checkHacking(r *repository, report reporter) {
	i := slices.IndexFunc(r.files, func(f *file) bool { return f.path == hacking })
	if i < 0 || !slices.ContainsFunc(r.files, func(f *file) bool { return f.path == "go.work" }) {
		return // a module zip lacks the nested modules
	}
	f := r.files[i]
	for line, text := range prose(f) {
		if !strings.HasPrefix(text, "|") {
			continue
		}
		for _, m := range codeName.FindAllStringSubmatch(text, -1) {
			name := m[1]
			scenario := scenarioName.FindStringSubmatch(name)
			switch {
			case strings.HasSuffix(name, ".go") && !r.hasFile(name):
				report(f.path, line, "there is no file %s", name)
			case testName.MatchString(name) && !r.declares(name):
				report(f.path, line, "no test file declares %s", name)
			case scenario != nil && !r.hasScenario(scenario[1]):
				report(f.path, line, "the explorer has no scenario %s", name)
			}
		}
	}
	for _, message := range r.comparePicture(picture(string(f.data))) {
		report(f.path, 0, "the picture: %s", message)
	}
}

func (r *repository) hasFile(pattern string) bool {
	return slices.ContainsFunc(r.files, func(f *file) bool {
		ok, _ := path.Match(pattern, f.path)
		return ok
	})
}

func (r *repository) declares(function string) bool {
	return slices.ContainsFunc(r.sources, func(s *source) bool {
		return s.test && slices.ContainsFunc(s.syntax.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && f.Name.Name == function
		})
	})
}

func (r *repository) hasScenario(prefix string) bool {
	return slices.ContainsFunc(r.sources, func(s *source) bool {
		return s.dir == explorer && strings.Contains(string(s.data), `name: "`+prefix)
	})
}

var (
	header = regexp.MustCompile(`^(offheap)( -+> )(dewpond)\b`)
	nested = regexp.MustCompile(`\+-> (\S+)(?: -> ([^\s,]+(?:, [^\s,]+)*))?`)
	single = regexp.MustCompile(`^([a-z][\w/]*)(?: -> ([^\s,]+(?:, [^\s,]+)*))?(?:  |$)`)
)

// picture returns what the first picture of a document says that each package, or tree of
// packages, imports. A line "a -> b, c" says it of a. A line "+-> a -> b, c" says it too,
// and that the package above whose name begins in the column of the + imports a. What
// follows two spaces is a remark.
func picture(text string) map[string][]string {
	_, text, _ = strings.Cut(text, "\n```\n")
	text, _, _ = strings.Cut(text, "\n```")
	imports := map[string][]string{}
	var draw func(from, list string)
	draw = func(from, list string) {
		ends := strings.Fields(strings.ReplaceAll(list, ",", ""))
		imports[from] = append(imports[from], ends...)
		for _, to := range ends {
			draw(to, "")
		}
	}
	columns := map[int]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := header.FindStringSubmatch(line); m != nil {
			columns[0], columns[len(m[1]+m[2])] = m[1], m[3]
			draw(m[1], m[3])
		} else if m := nested.FindStringSubmatch(line); m != nil {
			draw(columns[strings.Index(line, "+")], m[1])
			draw(m[1], m[2])
		} else if m := single.FindStringSubmatch(line); m != nil {
			draw(m[1], m[2])
		}
	}
	return imports
}

const everything = "..." // as an arrow's end

// comparePicture returns the differences between the picture and the code: packages that
// it lacks, imports that it lacks, and arrows without an import. What tests alone import
// may be drawn or not.
func (r *repository) comparePicture(drawn map[string][]string) []string {
	name := func(dir string) string { // the longest that is the directory's, or of one above it
		if dir == "." {
			dir = "dewpond"
		}
		best := ""
		for n := range drawn {
			if matches(n+"/...", dir) && len(n) > len(best) {
				best = n
			}
		}
		return best
	}
	found := map[string]bool{} // as a set, for many files have the same import
	imported := map[string]bool{}
	for _, s := range r.sources {
		from := name(s.dir)
		if from == "" {
			found["it lacks "+s.dir] = true
			continue
		}
		for p := range s.imports() {
			dir, ours := within(p)
			to := name(dir)
			if !ours || to == from {
				continue
			}
			imported[from+" -> "+to] = true
			if to != "" && !s.test && !slices.Contains(drawn[from], to) && !slices.Contains(drawn[from], everything) {
				found["it lacks "+from+" -> "+to] = true
			}
		}
	}
	for from, all := range drawn {
		for _, to := range all {
			if to != everything && !imported[from+" -> "+to] {
				found["nothing imports its "+from+" -> "+to] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
