package repocheck

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

const hacking = "HACKING.md"

// explorer is the directory of the scenarios that HACKING.md names.
const explorer = "internal/proof/explore"

var (
	codeName     = regexp.MustCompile("`([^`\\s]+)`")
	testName     = regexp.MustCompile(`^(Test|Benchmark|Fuzz)\w+$`)
	scenarioName = regexp.MustCompile(`^([a-z][a-z0-9-]*)\*$`)
)

// checkHacking requires that the files, tests and scenarios in the table of HACKING.md
// exist, and that its picture has the arrows of the table of layers.
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
	for _, message := range compareLayers(picture(string(f.data))) {
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
	arrow  = regexp.MustCompile(`\+-> (\S+)(?: -> ([^\s,]+(?:, [^\s,]+)*))?`)
	header = regexp.MustCompile(`^(offheap)( -+> )dewpond\b`)
)

// picture returns the imports that the picture of the library shows: a line "+-> a ->
// b, c" says that a imports b and c, and that the package above whose name begins in
// the column of its + imports a.
func picture(text string) map[string][]string {
	arrows := map[string][]string{}
	columns := map[int]string{}
	for line := range strings.Lines(text) {
		if m := header.FindStringSubmatch(line); m != nil {
			columns[0], columns[len(m[1]+m[2])] = "offheap", "."
			arrows["offheap"] = append(arrows["offheap"], ".")
			continue
		}
		at := arrow.FindStringSubmatchIndex(line)
		if at == nil {
			continue
		}
		from, to := columns[at[0]], line[at[2]:at[3]]
		arrows[from] = append(arrows[from], to)
		if at[4] >= 0 {
			arrows[to] = append(arrows[to], strings.Split(line[at[4]:at[5]], ", ")...)
		}
	}
	return arrows
}

// compareLayers returns the differences between the picture and the table of layers.
func compareLayers(arrows map[string][]string) []string {
	var differences []string
	drawn := map[string]bool{}
	for _, of := range arrows {
		for _, to := range of {
			drawn[to] = true
		}
	}
	for _, l := range layers {
		if l.pkg != "." && l.pkg != "offheap" && !drawn[l.pkg] {
			continue // above the library, beside it, or missing from what may import it
		}
		for _, to := range l.may {
			if !slices.Contains(arrows[l.pkg], to) {
				differences = append(differences, "it lacks "+l.pkg+" -> "+to)
			}
		}
		for _, to := range arrows[l.pkg] {
			if !slices.Contains(l.may, to) {
				differences = append(differences, "it has "+l.pkg+" -> "+to+", which the table of layers forbids")
			}
		}
	}
	return differences
}
