package report

import (
	"encoding/json"
	"io"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
)

// JSON writes the document as docs/schema.md describes it.
func JSON(w io.Writer, d bench.Document) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(d)
}
