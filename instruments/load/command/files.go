package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// Files are what a command writes beside its report. Whether they can be written is looked at
// before it begins, so that a wrong path is an error at once. An old result stays until there is
// a new one.
type Files struct {
	reports  outputs.Files[*load.Result]
	requests *outputs.File
	piped    bool // the JSON goes to standard output
}

// stdout is the path that stands for standard output.
const stdout = "-"

// OpenFiles takes the paths of the flags --json and --html; an empty one is none. The path - of JSON
// is standard output.
func OpenFiles(json, html string) (*Files, error) {
	out := &Files{piped: json == stdout}
	if out.piped {
		json = ""
	}
	out.reports.Private = true
	err := errors.Join(
		out.reports.Open("--json", json, func(w io.Writer, r *load.Result) error { return r.WriteJSON(w) }),
		out.reports.Open("--html", html, report.WriteHTML))
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (f *Flags) files(o *load.Options) (*Files, error) {
	out, err := OpenFiles(f.JSON, f.HTML)
	if err != nil {
		return nil, err
	}
	if err := out.reports.OpenDir("--hgrm", f.HGRM, report.WriteHGRM); err != nil {
		return nil, err
	}
	if f.Requests != "" {
		if out.requests, err = outputs.CreatePrivate(f.Requests); err != nil {
			return nil, fmt.Errorf("--requests: %w", err)
		}
		o.Requests = out.requests
	}
	return out, nil
}

// Write writes the result into all of them, and gives the log of requests its name, if there is one. An
// error of that log ends no run; it is returned here.
func (f *Files) Write(r *load.Result) error {
	err := f.reports.Write(r)
	if f.requests != nil {
		if failed := f.requests.Commit(); failed != nil {
			err = errors.Join(err, fmt.Errorf("--requests: the log is not whole: %w", failed))
		}
	}
	if f.piped { // last: a reader that goes away ends the program
		err = errors.Join(err, r.WriteJSON(os.Stdout))
	}
	return err
}

// Text returns where the report for people goes: to standard output, or to standard error if that is
// for the JSON.
func (f *Files) Text() io.Writer {
	if f.piped {
		return os.Stderr
	}
	return os.Stdout
}

// Close forgets the log of requests where no result was written.
func (f *Files) Close() {
	if f.requests != nil {
		f.requests.Discard()
	}
}
