package repocheck

import "testing"

func TestLinks(t *testing.T) {
	breaks(t, `
-- README.md --
# dewpond
<img src="docs/burst.svg">
<img src="docs/no.svg" srcset="docs/dark.svg">
## More
-- docs/burst.svg --
<svg/>
-- docs/a.md --
# A heading: of "two" parts
[to it](#a-heading-of-two-parts), [there](../README.md#more), [code](../bytepool.go), [a line of it](../bytepool.go#L12), [out](https://example.com/x)
`+"`[no](link.md)`\n```\n[no](link.md)\n```\n"+`
-- docs/b.md --
[gone](c.md) and [moved](a.md#no-heading)
[code has no headings](../bytepool.go#Get), [no line](../bytepool.go#L0), [no line](a.md#L1)
`,
		"README.md:3: link: the link to docs/no.svg leads nowhere",
		"README.md:3: link: the link to docs/dark.svg leads nowhere",
		"docs/b.md:1: link: the link to c.md leads nowhere",
		"docs/b.md:1: link: docs/a.md has no heading #no-heading",
		"docs/b.md:2: link: bytepool.go has no heading #Get",
		"docs/b.md:2: link: bytepool.go has no heading #L0",
		"docs/b.md:2: link: docs/a.md has no heading #L1",
	)
}

// A module zip has no go.work, and lacks files that documents link to.
func TestLinksOfAModuleZip(t *testing.T) {
	found, err := Check(tree("-- go.mod --\nmodule github.com/dewpond/dewpond\n-- README.md --\n[proof](internal/proof)\n"))
	if err != nil || len(found) != 0 {
		t.Errorf("found %v and error %v, want nothing", found, err)
	}
}
