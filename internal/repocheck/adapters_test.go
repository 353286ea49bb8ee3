package repocheck

import (
	"strings"
	"testing"
)

func TestAdapters(t *testing.T) {
	const adapter = documented + `
-- docs/README.md --
[dewpond](..), [the command](../cmd/dewpond), [tools](../tools/), [adapter](../contrib/dewzip), [exporter](../contrib/dewprom),
[a](a.md), [results](results.md), [changelog](../CHANGELOG.md)

| zip | \'z := dewzip.New(pool)\' | time |
-- docs/results.md --
| dewzap, dewzip | a file | 0.5 |
-- CHANGELOG.md --
- \'contrib/dewzip\': zip.
-- go.work --
use (
	.
	./cmd/dewpond
	./contrib/dewprom
	./contrib/dewzip
)
-- contrib/dewprom/go.mod --
module github.com/dewpond/dewpond/contrib/dewprom
-- contrib/dewzip/go.mod --
module github.com/dewpond/dewpond/contrib/dewzip
-- contrib/dewzip/dewzip_test.go --
package dewzip

func Example() {}

func BenchmarkZip() {}
`
	whole := strings.NewReplacer("\\'", "`", "[there](../README.md#more), ", "").Replace(adapter)
	breaks(t, whole)
	for old, want := range map[string]string{
		"func Example() {}":               "the adapter has no Example",
		"func BenchmarkZip() {}":          "the adapter has no Benchmark",
		"| zip | `z := dewzip.New(pool)`": "docs/README.md has no row that says how to use it",
		"| dewzap, dewzip |":              "docs/results.md has no row with its benchmark's figures",
		"`contrib/dewzip`":                "CHANGELOG.md has no line that says there is one",
	} {
		breaks(t, strings.Replace(whole, old, "", 1), "contrib/dewzip/go.mod: adapter: "+want)
	}
}
