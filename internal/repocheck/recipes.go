package repocheck

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/recipe"
)

// recipes are what tests do of the recipes in HACKING.md.
var recipes = []string{
	"cmd/dewpond/testdata/recipe.txtar", "instruments/together/testdata/recipe.txtar", "instruments/lab/testdata/recipe.txtar",
}

// pathName matches the name of a file in a text, from the root of the repository on.
var pathName = regexp.MustCompile("`([\\w./-]+/[\\w.-]+\\.\\w+|go\\.work|CHANGELOG\\.md)`")

// checkRecipes requires that a recipe of HACKING.md names the files that its test edits, and no
// other. The test sees to it that each of them is needed, and that they are all.
func checkRecipes(r *repository, report reporter) {
	files := map[string]*file{}
	for _, f := range r.files {
		files[f.path] = f
	}
	if files[hacking] == nil || files["go.work"] == nil {
		return // a module zip lacks the nested modules
	}
	for _, name := range recipes {
		if files[name] == nil {
			report(name, 0, "the recipe is not there")
			continue
		}
		done, err := recipe.Parse(files[name].data)
		if err != nil {
			report(name, 1, "%v", err)
			continue
		}
		_, section, ok := strings.Cut(string(files[hacking].data), "\n## "+done.Heading+"\n")
		if !ok {
			report(name, 1, "%s has no heading %q", hacking, done.Heading)
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		var named []string
		for _, m := range pathName.FindAllStringSubmatch(section, -1) {
			named = append(named, strings.ReplaceAll(m[1], "NAME", done.Name))
		}
		for _, p := range done.Paths() {
			if !slices.Contains(named, p) {
				report(hacking, 0, "%q does not name %s", done.Heading, p)
			}
		}
		for _, p := range named {
			if !slices.Contains(done.Paths(), p) {
				report(hacking, 0, "%q names %s, which its test does not edit", done.Heading, p)
			}
		}
	}
}
