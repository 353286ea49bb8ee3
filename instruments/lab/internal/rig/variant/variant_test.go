package variant

import (
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
		"all but pools":    "--scorer-transport=tuned --db-client=pgxpool --db-max-open=20 --gogc=150 --memory-limit=4GiB",
	}
	all := Variants(20)
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
