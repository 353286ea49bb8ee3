package settings

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/exectrace"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/gctrace"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/metricsample"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/source"
)

// A Reader reads what a process says of its collector.
type Reader struct {
	Given metricsample.Given // what the user says of the process
	Reads func(n int64)      // is told how many bytes of files were read
}

// headBytes is how much of a file tells what it is. The first line of gctrace may follow others.
const headBytes = 1 << 20

// mostSample is how long a sample may be.
const mostSample = 64 << 20

// Files reads a gctrace, a trace, or samples of metrics in the order of time. A file - is standard input.
// Beside the window it returns how many lines of a gctrace were broken.
func (r *Reader) Files(ctx context.Context, names []string) (*pacer.Window, int64, error) {
	var samples []*metricsample.Sample
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, 0, context.Cause(ctx)
		}
		sample, w, broken, err := r.file(ctx, name)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
		if w != nil {
			if len(names) > 1 {
				return nil, 0, fmt.Errorf("%s: it has a whole window: give it alone", name)
			}
			return w, broken, nil
		}
		samples = append(samples, sample)
	}
	w, err := metricsample.Window(samples, r.Given)
	return w, 0, err
}

// file reads one file: a sample, or a whole window.
func (r *Reader) file(ctx context.Context, name string) (*metricsample.Sample, *pacer.Window, int64, error) {
	file, modified := os.Stdin, time.Time{}
	if name != "-" {
		var err error
		file, err = os.Open(name)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil, nil, 0, errors.New("there is no such file: give a gctrace, a trace, two samples of metrics, or a URL such as http://localhost:6060")
		case err != nil:
			return nil, nil, 0, err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return nil, nil, 0, err
		}
		if info.IsDir() {
			return nil, nil, 0, errors.New("it is a directory: give the files in it")
		}
		modified = info.ModTime()
	}
	in := bufio.NewReaderSize(source.Counted(ctx, file, r.Reads), headBytes)
	head, err := in.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, 0, err
	}
	switch {
	case len(head) == 0:
		return nil, nil, 0, errors.New("it is empty: what should have written it has failed, or was cut off")
	case exectrace.Is(head):
		w, err := exectrace.Read(in)
		return nil, r.given(w), 0, err
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return nil, nil, 0, errors.New("it is packed, as profiles are: a profile does not say how often it was collected, and dewpond advise reads it. Unpack anything else with gunzip")
	case gctrace.Is(head):
		w, count, err := pacer.ReadTrace(in)
		if err == nil && w.Limited { // of any other setting nothing would follow
			w, err = nil, pacer.ErrLimited
		}
		return nil, r.given(w), count.Broken, err
	}
	text, err := io.ReadAll(io.LimitReader(in, mostSample+1))
	switch {
	case err != nil:
		return nil, nil, 0, err
	case len(text) > mostSample:
		return nil, nil, 0, fmt.Errorf("it has no line of gctrace in its first %d MB, and is too large for a sample of metrics", headBytes>>20)
	}
	s, err := metricsample.Parse(text)
	if err == nil && s.At.IsZero() {
		s.At = modified
	}
	return s, nil, 0, err
}

// given has what the user says of the process in a window that has not.
func (r *Reader) given(w *pacer.Window) *pacer.Window {
	if w == nil {
		return nil
	}
	if r.Given.GOGC != nil {
		w.Setting.GOGC = *r.Given.GOGC
	}
	if r.Given.Limit != nil {
		w.Setting.Limit = *r.Given.Limit
	}
	w.Known = r.Given.GOGC != nil && r.Given.Limit != nil
	return w
}

// Looks is how often a program is asked in a window.
const Looks = 11

// A Page is where a program says what its runtime does.
type Page struct {
	program source.Program // the address before the path
	paths   []string       // to try, the best first
}

// At returns the page at an address. Without a path it is /debug/vars, /metrics or /debug/pprof, whichever
// has most.
func At(address string) (*Page, error) {
	u, err := source.Address(address, "http://localhost:6060")
	if err != nil {
		return nil, err
	}
	path := strings.Trim(u.Path, "/")
	u.Path, u.RawPath = "", ""
	p := &Page{program: source.Program{URL: strings.TrimRight(u.String(), "/")}}
	const heap = "debug/pprof/heap?debug=1"
	switch {
	case path == "":
		p.paths = []string{"debug/vars", "metrics", heap}
	case strings.HasSuffix(path, "debug/pprof"):
		p.paths = []string{path + "/heap?debug=1"}
	case strings.Contains(path, "debug/pprof/"):
		before, _, _ := strings.Cut(path, "debug/pprof/")
		p.paths = []string{before + heap}
	default:
		p.paths = []string{path}
	}
	return p, nil
}

// Cost says what Watch asks a program for, and what that costs it.
func (p *Page) Cost(window time.Duration) string {
	return fmt.Sprintf("%s is asked %d times in %v for /%s. Each answer takes the program about a millisecond of one processor, and may stop it for some tens of microseconds. Nothing in it is changed.",
		p.program.Shown(), Looks, window, strings.Join(p.paths, ", or /"))
}

// Watch asks a program for its metrics in a window of time, and calls passed with how much of it has passed.
func (r *Reader) Watch(ctx context.Context, p *Page, window time.Duration, passed func(time.Duration)) (*pacer.Window, error) {
	path, err := p.best(ctx)
	if err != nil {
		return nil, err
	}
	var samples []*metricsample.Sample
	each := window / (Looks - 1)
	for i := range Looks {
		if i > 0 {
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(each):
			}
			passed(each)
		}
		s, err := p.look(ctx, path)
		if err != nil {
			return nil, err
		}
		samples = append(samples, s)
	}
	return metricsample.Window(samples, r.Given)
}

func (p *Page) look(ctx context.Context, path string) (*metricsample.Sample, error) {
	before := time.Now()
	text, err := p.program.Get(ctx, path, 0)
	if err != nil {
		return nil, err
	}
	s, err := metricsample.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", p.program.Shown(), path, err)
	}
	if s.At.IsZero() {
		s.At = before.Add(time.Since(before) / 2)
	}
	return s, nil
}

// best returns the path that has most of what is needed.
func (p *Page) best(ctx context.Context) (string, error) {
	found, most := "", 0
	var last error
	for _, path := range p.paths {
		s, err := p.look(ctx, path)
		switch {
		case err == nil:
			if n := len(s.Values); n > most {
				found, most = path, n
			}
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		default:
			last = err
		}
	}
	switch {
	case found != "":
		return found, nil
	case len(p.paths) > 1 && (errors.As(last, new(*source.AnswerError)) || errors.Is(last, metricsample.ErrNone) || errors.Is(last, metricsample.ErrHTML)):
		return "", fmt.Errorf("%s has none of /%s: import _ \"net/http/pprof\" or \"expvar\" in the program's main, and give the address that serves them", p.program.Shown(), strings.Join(p.paths, ", /"))
	}
	return "", last
}
