// Package plainly writes to a terminal what it cannot obey: some texts come from servers and their
// databases.
package plainly

import (
	"io"
	"os"
	"unicode/utf8"

	"github.com/dewpond/dewpond/instruments/kit/plain"
)

// Stdout is standard output.
var Stdout io.Writer = &writer{To: os.Stdout}

// A writer writes texts as package plain shows them. One goroutine at a time writes to it.
type writer struct {
	To   io.Writer
	rest []byte // the beginning of a character whose end comes later
}

// Write implements io.Writer.
func (p *writer) Write(b []byte) (int, error) {
	all := append(p.rest, b...)
	end := len(all)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(all[i]) && !utf8.FullRune(all[i:]) {
			end = i
		}
	}
	p.rest = append([]byte(nil), all[end:]...)
	if _, err := io.WriteString(p.To, plain.Text(string(all[:end]))); err != nil {
		return 0, err
	}
	return len(b), nil
}
