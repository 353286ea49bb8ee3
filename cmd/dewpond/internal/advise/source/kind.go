// Package source opens what dewpond advise is given: files, which it tells by what is in them, and
// the address of a program's /debug/pprof.
package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/gctrace"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/memstats"
)

// A Kind is what a source has.
type Kind int

// The kinds of sources.
const (
	Profile  Kind = iota // of pprof: of the heap, or of the CPU; its sample types say which
	MemStats             // the text of heap?debug=1
	GCTrace              // what GODEBUG=gctrace=1 prints, with other lines between
	Trace                // an execution trace
)

// headBytes is how much of a file tells its kind. The first line of gctrace may follow others.
const headBytes = 64 << 10

var profileText = regexp.MustCompile(`^(goroutine|threadcreate|allocs|block|mutex) profile: |^--- (contention|mutex):`)

// beginnings are the tags of the fields with which writers begin a profile: the types of samples, the
// samples, mappings, locations, functions, strings, and as runtime/pprof does the time (of the CPU) and
// the type of its period (of the heap).
var beginnings = []byte{1<<3 | 2, 2<<3 | 2, 3<<3 | 2, 4<<3 | 2, 5<<3 | 2, 6<<3 | 2, 9 << 3, 11<<3 | 2}

// Tell tells the kind of a source by its first bytes. The error says what it is, if it is nothing
// that can be used, and what to give instead.
func Tell(head []byte) (Kind, error) {
	text := bytes.TrimLeft(head, " \t\r\n\xef\xbb\xbf")
	lower := bytes.ToLower(text[:min(len(text), 256)])
	switch {
	case len(head) == 0:
		return 0, errors.New("it is empty: what should have written it has failed, or was cut off")
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Profile, nil // what else is packed has no profile's fields
	case bytes.HasPrefix(text, []byte(memstats.Prefix)):
		return MemStats, nil
	case bytes.HasPrefix(head, []byte("go 1.")) && bytes.Contains(head[:min(len(head), 32)], []byte(" trace\x00")):
		return Trace, nil
	case bytes.HasPrefix(lower, []byte("<!doctype")), bytes.HasPrefix(lower, []byte("<html")), bytes.HasPrefix(lower, []byte("<?xml")):
		return 0, errors.New("it is a page of HTML and no profile: give the address of /debug/pprof itself, or save what /debug/pprof/allocs answers")
	case profileText.Match(text):
		return 0, errors.New("it is the text of another profile: save /debug/pprof/heap or /debug/pprof/allocs, without debug=1")
	case gctrace.Is(head):
		return GCTrace, nil
	case bytes.HasPrefix(head, []byte("\x7fELF")), bytes.HasPrefix(head, []byte("MZ")), bytes.HasPrefix(head, []byte("\xcf\xfa\xed\xfe")):
		return 0, errors.New("it is a program and no profile: give the profile alone, which has the names of functions in it")
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		return 0, errors.New("it is JSON and no profile: save what /debug/pprof/heap or /debug/pprof/allocs answers")
	case bytes.IndexByte(beginnings, head[0]) >= 0:
		return Profile, nil
	}
	return 0, errors.New("it is no profile, no gctrace and no text of heap?debug=1: save what /debug/pprof/heap or /debug/pprof/allocs answers")
}

// A Source is an opened file, or what a URL has answered.
type Source struct {
	Name string // as it is shown
	Kind Kind
	Size int64 // in bytes, as it is stored
	open func() (io.ReadCloser, error)
}

// File returns the source that is a file.
func File(name string) (*Source, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such file: give a profile, or a URL such as http://localhost:6060/debug/pprof", name)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory: give the profiles in it", name)
	}
	return newSource(name, info.Size(), func() (io.ReadCloser, error) { return os.Open(name) })
}

// Bytes returns the source that an answer is.
func Bytes(name string, data []byte) (*Source, error) {
	return newSource(name, int64(len(data)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
}

func newSource(name string, size int64, open func() (io.ReadCloser, error)) (*Source, error) {
	file, err := open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, headBytes))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	kind, err := Tell(head)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if kind == Profile && bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		if err := packed(head); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return &Source{name, kind, size, open}, nil
}

// packed looks at what gzip has packed: a trace or a text that somebody has packed is told from a
// profile, which runtime/pprof packs.
func packed(head []byte) error {
	plain, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return errors.New("it begins as what gzip has packed, and is not: save it again")
	}
	first, _ := bufio.NewReaderSize(plain, 4<<10).Peek(4 << 10)
	if len(first) == 0 {
		return nil // cut off, of which the reader of profiles says more
	}
	kind, err := Tell(first)
	if err == nil && kind != Profile {
		err = errors.New("it is packed, and no profile: unpack it with gunzip")
	}
	return err
}

// IsURL reports whether a source is an address and no file.
func IsURL(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}
