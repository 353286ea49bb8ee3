package repocheck

import "testing"

func TestCopies(t *testing.T) {
	breaks(t, `
-- load/scenariofile/session.yaml --
name: one
-- examples/matchmaker/session.yaml --
name: two
`, "examples/matchmaker/session.yaml: copies: it must be equal to load/scenariofile/session.yaml")
	breaks(t, `
-- load/scenariofile/session.yaml --
name: one
-- examples/matchmaker/session.yaml --
name: one
`)
}
