// Package outputs writes a report to the files that flags name. They are opened before anything
// is measured, so that a path that cannot be written is an error at once and not after minutes.
package outputs

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Files are the files that a report D is written to. The zero value has none.
type Files[D any] struct{ all []*file[D] }

type file[D any] struct {
	*os.File
	format  func(io.Writer, D) error
	created bool // by Open; Close removes it if nothing is written
	written bool
}

// Open adds a file without truncating it: an old result is overwritten only by a new one. An
// empty path is none. The error names the flag.
func (f *Files[D]) Open(flag, path string, format func(io.Writer, D) error) error {
	if path == "" {
		return nil
	}
	_, err := os.Stat(path)
	created := errors.Is(err, os.ErrNotExist)
	opened, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	f.all = append(f.all, &file[D]{File: opened, format: format, created: created})
	return nil
}

// Write writes the report to every file.
func (f *Files[D]) Write(d D) error {
	var errs []error
	for _, out := range f.all {
		out.written = true
		if err := errors.Join(out.Truncate(0), out.format(out.File, d)); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", out.Name(), err))
		}
	}
	return errors.Join(errs...)
}

// Close closes the files, and removes those that it has created and nothing was written to.
func (f *Files[D]) Close() {
	for _, out := range f.all {
		out.File.Close()
		if out.created && !out.written {
			os.Remove(out.Name())
		}
	}
}
