package repocheck

import "testing"

// References that a reader cannot look up are found in comments, documents and scripts.
func TestCitation(t *testing.T) {
	breaks(t, `
-- main_test.go --
package dewpond_test

// A pool was seen with 2559 blocks where 2048 were allowed (S1-8).
func one() {}

/* The names that
issue 2 promises, and all of S4. */
func two() {}

// See claims.md, and docs/ownership.md.
func three() { const kept = "S1-8, issue 7 and claims.md" } // allowed: no comment
-- article.go --
package dewpond

// The pool of a well-known
// article.
-- address.go --
package dewpond

// The article is "How to pool" (https://example.com/how/to-pool.md). Kept on S3:
// https://example.com/issues/7.
-- docs/ownership.md --
It is told in ../shared/findings.md.
An article says so.
-- .ci/run --
# as in claims.md
-- testdata/path.md --
M0 0 S1-8 2 3
-- chart.svg --
<path d="M0 0 S1-8 2 3"/>
`,
		"main_test.go:3: citation: S1-8 is a label",
		"main_test.go:7: citation: issue 2 could be",
		"main_test.go:7: citation: S4 is a label",
		"main_test.go:10: citation: claims.md is not in the repository",
		"article.go:4: citation: mentions an article",
		"docs/ownership.md:1: citation: ../shared is outside",
		"docs/ownership.md:1: citation: ../shared/findings.md is not in",
		"docs/ownership.md: citation: mentions an article",
		".ci/run:1: citation: claims.md is not in the repository",
	)
}
