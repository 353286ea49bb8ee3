package report

import (
	"encoding/json"
	"io"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// JSON writes the document as docs/schema.md describes it.
func JSON(w io.Writer, d result.Document) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(d)
}
