package variant

import (
	"slices"
	"strings"
	"testing"
)

// A variant with a plus differs from the first in the flags of that one measure.
func TestOneChangeEach(t *testing.T) {
	changes := map[string]string{
		"+ transport":      "--scorer-transport=tuned",
		"+ db":             "--db-max-open=20 --db-max-idle=20",
		"+ pgxpool":        "--db-client=pgxpool --db-max-open=20",
		"+ pools":          "--memory=dewpond",
		"+ sync.Pool":      "--memory=sync.Pool",
		"+ gogc30":         "--gogc=30",
		"+ gogc150, limit": "--gogc=150 --memory-limit=4GiB",
		"before, again":    "",
		"all":              "--scorer-transport=tuned --db-client=pgxpool --db-max-open=20 --memory=dewpond --gogc=150 --memory-limit=4GiB",
		"as published":     "--scorer-transport=tuned --db-max-open=150 --memory=sync.Pool --gogc=30 --db-max-idle=100",
		"all but pools":    "--scorer-transport=tuned --db-client=pgxpool --db-max-open=20 --gogc=150 --memory-limit=4GiB",
	}
	all := Variants(20, 397)
	has := map[string]bool{}
	for _, a := range all[0].Args() {
		has[a] = true
	}
	for _, v := range all[1:] {
		var changed []string
		for _, a := range v.Args() {
			if !has[a] {
				changed = append(changed, a)
			}
		}
		want, ok := changes[v.Name]
		if got := strings.Join(changed, " "); got != want || !ok {
			t.Errorf("%s changes %s, want %s", v.Name, got, want)
		}
		delete(changes, v.Name)
	}
	if len(changes) > 0 {
		t.Errorf("missing: %v", changes)
	}
}

// The published bounds are those that the server takes, and it says so where that is less.
func TestPublishedBoundsAreClipped(t *testing.T) {
	for most, want := range map[int]struct{ args, says string }{
		500: {"--db-max-open=150 --db-max-idle=100", "150 open and 100 idle, sync.Pool, GOGC=30"},
		120: {"--db-max-open=120 --db-max-idle=100", "120 open and 100 idle, sync.Pool, GOGC=30; it has 150 open and 100 idle, and the server takes 120"},
		97:  {"--db-max-open=97 --db-max-idle=97", "97 open and 97 idle, sync.Pool, GOGC=30; it has 150 open and 100 idle, and the server takes 97"},
	} {
		all := Variants(20, most)
		v := all[len(all)-1]
		if v.Name != AsPublished || !strings.HasSuffix(v.About, want.says) {
			t.Errorf("with %d: %s is %s", most, v.Name, v.About)
		}
		for arg := range strings.FieldsSeq(want.args) {
			if !slices.Contains(v.Args(), arg) {
				t.Errorf("with %d: %v has no %s", most, v.Args(), arg)
			}
		}
	}
}
