package repocheck

import (
	"strings"
	"testing"
)

// documented is the least that the rule of documents requires of the skeleton.
const documented = `
-- docs/README.md --
[dewpond](..), [the command](../cmd/dewpond), [tools](../tools/), [README](../README.md), [a](a.md)
-- docs/results.md --
Get and Put: 0.81
[0.79, 0.83]; off the heap 1.2 to 1.7 times.
[map](README.md)
-- docs/a.md --
# A heading: of "two" parts
[to it](#a-heading-of-two-parts), [there](../README.md#more), [code](../bytepool.go), [a line of it](../bytepool.go#L12), [out](https://example.com/x)
` + "`[no](link.md)`\n```\n[no](link.md)\n```\n"

const aReadme = `
-- README.md --
# dewpond
<img src="docs/burst.svg"> 0.81 [0.79, 0.83] and 1.2 to 1.7
## More
-- docs/burst.svg --
<svg/>
`

func TestDocumentsThatKeepTheRule(t *testing.T) {
	breaks(t, strings.Replace(documented, "[a](a.md)", "[a](a.md), [results](results.md)", 1)+aReadme)
}

func TestDocument(t *testing.T) {
	breaks(t, documented+`
-- docs/b.md --
[gone](c.md) and [moved](a.md#no-heading)
[code has no headings](../bytepool.go#Get), [no line](../bytepool.go#L0), [no line](a.md#L1)
-- load/go.mod --
module github.com/dewpond/dewpond/load
-- go.work --
use (
	.
	./cmd/dewpond
	./load
)
-- README.md --
# dewpond
<img src="docs/no.svg" srcset="docs/dark.svg"> 0.82 [0.79, 0.83] and 1.2 to 1.8
## More
`,
		"docs/b.md:1: document: the link to c.md leads nowhere",
		"docs/b.md:1: document: docs/a.md has no heading #no-heading",
		"docs/b.md:2: document: bytepool.go has no heading #Get",
		"docs/b.md:2: document: bytepool.go has no heading #L0",
		"docs/b.md:2: document: docs/a.md has no heading #L1",
		"docs/b.md: document: docs/README.md does not list this document",
		"docs/results.md: document: docs/README.md does not list this document",
		"load/go.mod: document: docs/README.md does not list this module",
		"README.md:2: document: the link to docs/no.svg leads nowhere",
		"README.md:2: document: the link to docs/dark.svg leads nowhere",
		"README.md:2: document: the figure 0.82 [0.79, 0.83] is not in docs/results.md",
		"README.md:2: document: the figure 1.2 to 1.8 is not in docs/results.md",
	)
}

// A module zip has no go.work, and lacks files that documents link to.
func TestDocumentsOfAModuleZip(t *testing.T) {
	found, err := Check(tree("-- go.mod --\nmodule github.com/dewpond/dewpond\n-- README.md --\n[proof](internal/proof)\n"))
	if err != nil || len(found) != 0 {
		t.Errorf("found %v and error %v, want nothing", found, err)
	}
}
