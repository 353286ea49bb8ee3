package load

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Files are what a command writes beside its report. They are opened before it begins, so that an
// unwritable path is an error at once.
type Files struct {
	files    []*output
	hgrm     string // directory
	requests *os.File
}

type output struct {
	file    *os.File
	format  func(io.Writer, Result) error
	created bool // by this command, which removes it if nothing is written
	written bool
}

// OpenFiles opens the files of the flags --json and --html; an empty path is none.
func OpenFiles(json, html string) (*Files, error) {
	out := &Files{}
	err := errors.Join(
		out.open("--json", json, func(w io.Writer, r Result) error { return r.WriteJSON(w) }),
		out.open("--html", html, func(w io.Writer, r Result) error { return r.WriteHTML(w) }))
	if err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

func (f *Flags) files(o *Options) (*Files, error) {
	out, err := OpenFiles(f.JSON, f.HTML)
	if err != nil {
		return nil, err
	}
	out.hgrm = f.HGRM
	if f.HGRM != "" {
		err = os.MkdirAll(f.HGRM, 0o755)
	}
	if err == nil && f.Requests != "" {
		out.requests, err = os.Create(f.Requests)
		o.Requests = out.requests
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

// open opens a file without truncating it: an old result is overwritten only by a new one.
func (f *Files) open(flag, path string, format func(io.Writer, Result) error) error {
	if path == "" {
		return nil
	}
	_, err := os.Stat(path)
	created := errors.Is(err, os.ErrNotExist)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	f.files = append(f.files, &output{file: file, format: format, created: created})
	return nil
}

// Write writes the result into all of them.
func (f *Files) Write(r Result) error {
	var errs []error
	for _, out := range f.files {
		out.written = true
		if err := errors.Join(out.file.Truncate(0), out.format(out.file, r)); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", out.file.Name(), err))
		}
	}
	if f.hgrm != "" {
		errs = append(errs, r.WriteHGRM(f.hgrm))
	}
	return errors.Join(errs...)
}

// writeMixing writes the JSON, the only file that a comparison of protocols has.
func (f *Files) writeMixing(m Mixing) error {
	for _, out := range f.files {
		out.written = true
		if err := errors.Join(out.file.Truncate(0), m.WriteJSON(out.file)); err != nil {
			return err
		}
	}
	return nil
}

// Close closes them, and removes those that are new and were not written.
func (f *Files) Close() {
	for _, out := range f.files {
		out.file.Close()
		if out.created && !out.written {
			os.Remove(out.file.Name())
		}
	}
	if f.requests != nil {
		f.requests.Close()
	}
}

// WriteHGRM writes a file for each part and time, such as match-response.hgrm, into dir: the
// percentile distribution in nanoseconds, in the text format of HdrHistogram's plotter.
func (r *Result) WriteHGRM(dir string) error {
	for _, p := range r.parts() {
		for _, t := range p.times() {
			if t.Samples == 0 {
				continue
			}
			if err := writeHGRM(filepath.Join(dir, fileName(p.Name)+"-"+t.name+".hgrm"), t.Histogram); err != nil {
				return err
			}
		}
	}
	return nil
}

// ticks is how many lines a .hgrm file has each time the distance to 100 % halves; 5 is what
// HdrHistogram's own tools write.
const ticks = 5

func writeHGRM(path string, blob []byte) error {
	h, err := hdrhistogram.Decode(blob)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	_, err = h.PercentilesPrint(w, ticks, 1)
	return errors.Join(err, w.Flush(), f.Close())
}

// fileName keeps a file inside its directory whatever a step is called.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}
