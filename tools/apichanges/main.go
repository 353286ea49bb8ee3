// Command apichanges says what has changed of the API of each public module since the baseline.
// See its -help.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/gcexportdata"
	"golang.org/x/tools/go/packages"
)

const help = `Usage: apichanges [-C dir] [-update | -baseline]

Compares the API of each public module of the workspace with the baseline, and
fails unless the changes are those that tools/api/changes.txt lists. So a commit
that changes an API shows it in that file.

    cd tools && GOWORK=off go run ./apichanges             what .ci/run api runs
    cd tools && GOWORK=off go run ./apichanges -update     rewrite the list of changes
    cd tools && GOWORK=off go run ./apichanges -baseline   begin anew, at a release

The baseline is tools/api/*.gz: the export data of the public packages, as the
compiler writes it. A module is public if it has a package that can be imported
from outside and lies in the root or in contrib. Of instruments the packages of
load count, as if they were a module.

Flags:
`

func main() {
	err := run(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "apichanges:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("apichanges", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		fmt.Fprint(out, help)
		flags.PrintDefaults()
	}
	dir := flags.String("C", "..", "the workspace is in `dir`")
	update := flags.Bool("update", false, "rewrite the list of changes")
	baseline := flags.Bool("baseline", false, "make the present API the baseline, and empty the list")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q; -help says more", flags.Arg(0))
	}
	root, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	modules, err := publicModules(root)
	if err != nil {
		return err
	}
	api := filepath.Join(root, "tools", "api")
	list := filepath.Join(api, "changes.txt")
	var changes strings.Builder
	known := map[string]bool{list: true}
	for _, m := range modules {
		now, err := m.load()
		if err != nil {
			return err
		}
		file := filepath.Join(api, m.file())
		known[file] = true
		if *baseline {
			if err := write(file, now); err != nil {
				return err
			}
		}
		before, err := read(file)
		if errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(&changes, "%s: a new module\n", m.path)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		report := apidiff.ModuleChanges(&apidiff.Module{Path: m.path, Packages: before}, &apidiff.Module{Path: m.path, Packages: now})
		if len(report.Changes) > 0 {
			fmt.Fprintf(&changes, "%s\n%s\n", m.path, ordered(report))
		}
	}
	files, err := filepath.Glob(filepath.Join(api, "*.gz"))
	if err != nil {
		return err
	}
	for _, file := range files {
		switch {
		case known[file]:
		case *baseline:
			if err := os.Remove(file); err != nil {
				return err
			}
		default:
			fmt.Fprintf(&changes, "%s: the module is gone\n", strings.TrimSuffix(filepath.Base(file), ".gz"))
		}
	}
	fmt.Fprint(out, changes.String())
	if *update || *baseline {
		return os.WriteFile(list, []byte(changes.String()), 0o666)
	}
	listed, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	if string(listed) != changes.String() {
		return fmt.Errorf("these changes since the baseline are not those that %s lists: run apichanges -update, look at the difference, and say in CHANGELOG.md what a user has to do", list)
	}
	return nil
}

// ordered returns a report with its changes in order and each of them once. apidiff
// leaves the order to its maps, and repeats a generic type's methods for each use of the type.
func ordered(r apidiff.Report) apidiff.Report {
	changes := slices.Clone(r.Changes)
	slices.SortFunc(changes, func(a, b apidiff.Change) int { return strings.Compare(a.Message, b.Message) })
	return apidiff.Report{Changes: slices.Compact(changes)}
}

// A publicModule is one whose API users depend on, or the part of it that they do.
type publicModule struct{ path, dir string }

// publicModules returns the public modules of the workspace in a directory.
func publicModules(root string) ([]publicModule, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Dir}}")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=", "GOFLAGS=")
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v in %s: %w", cmd, root, err)
	}
	var all []publicModule
	for line := range strings.Lines(string(listed)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return nil, err
		}
		switch {
		case rel == ".", strings.HasPrefix(rel, "contrib"+string(filepath.Separator)) && !isInternal(path):
			all = append(all, publicModule{path, dir})
		case rel == "instruments":
			all = append(all, publicModule{path + "/load", filepath.Join(dir, "load")})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no public module", root)
	}
	return all, nil
}

func isInternal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// file returns the name of the module's baseline.
func (m publicModule) file() string { return strings.ReplaceAll(m.path, "/", "_") + ".gz" }

// load returns the module's public packages.
func (m publicModule) load() ([]*types.Package, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile,
		Dir:  m.dir,
		Env:  append(os.Environ(), "GOWORK=off", "GOFLAGS="),
	}, "./...")
	if err != nil {
		return nil, err
	}
	var public []*types.Package
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %v", p.PkgPath, p.Errors[0])
		}
		if p.Name != "main" && !isInternal(p.PkgPath) {
			public = append(public, p.Types)
		}
	}
	return public, nil
}

// write writes the export data of packages to a file.
func write(file string, all []*types.Package) error {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for _, p := range all {
		var data bytes.Buffer
		if err := gcexportdata.Write(&data, token.NewFileSet(), p); err != nil {
			return err
		}
		fmt.Fprintf(z, "%s %d\n", p.Path(), data.Len())
		if _, err := data.WriteTo(z); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, packed.Bytes(), 0o666)
}

// read reads what write has written.
func read(file string) (all []*types.Package, err error) {
	packed, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		var path string
		var size int
		if _, err := fmt.Sscanf(string(line), "%s %d", &path, &size); err != nil || size > len(rest) {
			return nil, fmt.Errorf("%q is no package's head", line)
		}
		p, err := gcexportdata.Read(bytes.NewReader(rest[:size]), token.NewFileSet(), map[string]*types.Package{}, path)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
		data = rest[size:]
	}
	return all, nil
}
