package repocheck

import (
	"slices"
	"strings"
	"testing"
)

func TestRecipes(t *testing.T) {
	const text = `# Hacking

## To add an adapter

1. Write 'contrib/NAME/NAME.go' with what 'dewhttp.go' has, as in 'internal/turns', and run
   'go test ./contrib/NAME/x.go'.
2. A line in 'go.work'.

## To add another thing

See 'contrib/NAME/other.go'.
`
	const done = `# To add an adapter: dewpile
-- contrib/dewpile/dewpile.go --
package dewpile
-- go.work after dewotel --
	./contrib/dewpile
`
	find := func(text, done string) []string {
		found, err := CheckEdited(tree(skeleton), map[string][]byte{
			"HACKING.md": []byte(strings.ReplaceAll(text, "'", "`")), recipes[1]: []byte(done),
		})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range found {
			if f.Rule == "recipe" && f.Path != recipes[0] && f.Path != recipes[2] { // which are not there
				all = append(all, f.Message)
			}
		}
		return all
	}
	for name, tt := range map[string]struct{ text, done, want string }{
		"as it is":        {text, done, ""},
		"one is missing":  {strings.Replace(text, "'go.work'", "go.work", 1), done, `"To add an adapter" does not name go.work`},
		"one is needless": {strings.Replace(text, "dewhttp.go", "contrib/dewhttp/dewhttp.go", 1), done, `"To add an adapter" names contrib/dewhttp/dewhttp.go, which its test does not edit`},
		"of another name": {text, strings.Replace(done, ": dewpile", ": dewheap", 1), `"To add an adapter" does not name contrib/dewpile/dewpile.go; "To add an adapter" names contrib/dewheap/dewheap.go, which its test does not edit`},
		"no such recipe":  {strings.Replace(text, "an adapter", "a pool", 1), done, `HACKING.md has no heading "To add an adapter"`},
		"no recipe":       {text, "-- x --\n", `"-- x --" is not # HEADING: NAME`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(find(tt.text, tt.done), "; "); got != tt.want {
				t.Errorf("found %s, want %s", got, tt.want)
			}
		})
	}
	found, err := CheckEdited(tree(skeleton), map[string][]byte{"HACKING.md": []byte(text)})
	if err != nil || !slices.ContainsFunc(found, func(f Finding) bool { return f.Path == recipes[1] && f.Message == "the recipe is not there" }) {
		t.Errorf("without the recipe it found %v, %v", found, err)
	}
}
