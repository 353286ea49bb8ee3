// Package scenariofile reads a [load.Scenario] from a file in YAML, of which JSON is a part. The
// file is data and no language: names, substitution, lists, one condition. instruments/load/README.md describes
// it.
package scenariofile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/dewpond/dewpond/instruments/internal/secret"
	"github.com/dewpond/dewpond/instruments/load"
)

// A File is a scenario that was read from a file, and knows where in the file everything is.
type File struct {
	Scenario load.Scenario
	// Files are what the scenario draws from, under the names that it has for them.
	Files map[string][]byte

	name   string // as errors show it
	dir    string // where the files that it names are
	root   string // below which they must be; empty is dir
	closed bool   // nothing but Files is read
	lines  []string
	places map[string]*token.Token // where each field is, as load.InvalidError.Where names it
	err    error                   // the first mistake
}

// Read reads a file. A mistake is a [*load.InvalidError] that has the line, the column and an
// excerpt. What only load can tell, such as a name that nothing gives, [File.Locate] places.
//
// The files that the scenario draws from are below its own directory: see [ReadBelow].
func Read(path string) (*File, error) { return ReadBelow(path, "") }

// ReadBelow is Read for a scenario that draws from files below root, which is a directory and may
// be above that of the scenario. Empty is the scenario's own. What is elsewhere is not read, also
// if a link leads there: a scenario that comes from elsewhere could have it sent to its target.
func ReadBelow(path, root string) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := readBounded(in)
	if err != nil {
		return nil, err
	}
	return ParseBelow(path, data, root)
}

// Parse is Read with the file's contents.
func Parse(path string, data []byte) (*File, error) {
	return ParseBelow(path, data, "")
}

// ParseBelow is ReadBelow with the file's contents.
func ParseBelow(path string, data []byte, root string) (*File, error) {
	f := &File{Files: map[string][]byte{}, root: root}
	return f.parse(path, data)
}

// ParseWith is Parse for a scenario that comes from elsewhere: it reads no file, and draws from
// these alone.
func ParseWith(path string, data []byte, files map[string][]byte) (*File, error) {
	f := &File{Files: files, closed: true}
	return f.parse(path, data)
}

func (f *File) parse(path string, data []byte) (*File, error) {
	f.name, f.dir = filepath.Base(path), filepath.Dir(path)
	f.lines, f.places = strings.Split(string(data), "\n"), map[string]*token.Token{}
	depth, err := f.bounded(data)
	if err != nil {
		return nil, err
	}
	tokens := lexer.Tokenize(string(data))
	if err := f.boundedPaths(tokens, depth); err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, f.syntax(err)
	}
	var body ast.Node
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			f.fail(doc.Body, "a second document: give one scenario a file")
		}
		body = doc.Body
	}
	if body == nil {
		return nil, &load.InvalidError{Where: f.name, Problem: "it is empty: dewload --example prints a scenario"}
	}
	f.scenario(body)
	if f.err != nil {
		return nil, f.err
	}
	return f, nil
}

// Locate gives an error about the scenario its place in the file.
func (f *File) Locate(err error) error {
	var invalid *load.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	for where := invalid.Where; where != ""; where = parent(where) {
		if t := f.places[where]; t != nil {
			return f.at(t, invalid.Problem)
		}
	}
	return &load.InvalidError{Where: f.name, Problem: invalid.Error()}
}

// parent returns what a field is part of: "session[2]" of "session[2].get".
func parent(where string) string {
	return where[:max(0, strings.LastIndexAny(where, ".["))]
}

// fail keeps the first mistake.
func (f *File) fail(n ast.Node, format string, args ...any) {
	if f.err == nil {
		f.err = f.at(n.GetToken(), fmt.Sprintf(format, args...))
	}
}

func (f *File) at(t *token.Token, problem string) error {
	line, column := t.Position.Line, t.Position.Column
	excerpt := ""
	if line >= 1 && line <= len(f.lines) {
		excerpt = "   | " + secret.Excerpt(short(strings.TrimSpace(f.lines[line-1])))
	}
	return &load.InvalidError{Where: fmt.Sprintf("%s:%d:%d", f.name, line, column), Problem: problem + excerpt}
}

// longestExcerpt is how many characters of a line an error shows.
const longestExcerpt = 200

func short(line string) string {
	if r := []rune(line); len(r) > longestExcerpt {
		return string(r[:longestExcerpt]) + "..."
	}
	return line
}

func (f *File) syntax(err error) error {
	var s *yaml.SyntaxError
	if errors.As(err, &s) && s.Token != nil {
		problem, _, _ := strings.Cut(s.Message, "\n")
		return f.at(s.Token, problem)
	}
	return &load.InvalidError{Where: f.name, Problem: "no YAML: " + err.Error()}
}
