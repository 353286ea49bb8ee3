package scenariofile

import _ "embed"

// Example is a scenario with most of what a file can say.
//
//go:embed session.yaml
var Example string
