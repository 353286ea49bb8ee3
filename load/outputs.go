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

	"github.com/dewpond/dewpond/internal/measure/outputs"
)

// Files are what a command writes beside its report. Whether they can be written is looked at
// before it begins, so that a wrong path is an error at once. An old result stays until there is
// a new one.
type Files struct {
	reports  outputs.Files[Result]
	json     string // path
	hgrm     string // directory
	requests *os.File
}

// OpenFiles takes the paths of the flags --json and --html; an empty one is none.
func OpenFiles(json, html string) (*Files, error) {
	out := &Files{json: json}
	err := errors.Join(
		out.reports.Open("--json", json, func(w io.Writer, r Result) error { return r.WriteJSON(w) }),
		out.reports.Open("--html", html, func(w io.Writer, r Result) error { return r.WriteHTML(w) }))
	if err != nil {
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

// Write writes the result into all of them.
func (f *Files) Write(r Result) error {
	err := f.reports.Write(r)
	if f.hgrm != "" {
		err = errors.Join(err, r.WriteHGRM(f.hgrm))
	}
	return err
}

// writeMixing writes the JSON, the only file that a comparison of protocols has.
func (f *Files) writeMixing(m Mixing) error {
	if f.json == "" {
		return nil
	}
	return outputs.WriteFile(f.json, m.WriteJSON)
}

// Close closes the log of requests, if there is one.
func (f *Files) Close() {
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
	return outputs.WriteFile(path, func(f io.Writer) error {
		w := bufio.NewWriter(f)
		_, err := h.PercentilesPrint(w, ticks, 1)
		return errors.Join(err, w.Flush())
	})
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
