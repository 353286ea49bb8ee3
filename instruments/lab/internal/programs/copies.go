package programs

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed _loads/*.go
var embedded embed.FS

// loads has the harness and the loads.
var loads fs.FS = embedded

// unused is the load's neighbour in the binary of Linked, for which it has a build tag.
const unused = "linked.go"

// linkedModule is the go.mod of Linked.
const linkedModule = "linked.mod"

// copies are the sides of a program in a directory of ours.
type copies struct {
	Program
	dir  string // has a directory for each of the two copies
	root string // the repository
	do   func(context.Context, Step) (Ending, error)
}

// side is the directory of a side. Linked has that of Original: what both have is compiled once.
func (c copies) side(name string) string {
	if name == Linked {
		name = Original
	}
	return filepath.Join(c.dir, c.Name, name)
}

// make downloads the module, copies it twice and edits one of the copies.
func (c copies) make(ctx context.Context) (Lines, error) {
	var none Lines
	page, err := os.ReadFile(filepath.Join(c.root, "docs", "migrating.md"))
	if err != nil {
		return none, err
	}
	if err := os.MkdirAll(filepath.Join(c.dir, "tmp"), 0o777); err != nil {
		return none, err
	}
	e, err := c.do(ctx, Step{Dir: c.dir, Args: []string{"go", "mod", "download", "-json", c.Module + "@" + c.Version}})
	if err != nil {
		return none, err
	} else if err := e.must(c.Module + " cannot be had here"); err != nil {
		return none, err
	}
	for _, side := range []string{Original, Migrated} {
		if err := os.CopyFS(c.side(side), os.DirFS(e.Module)); err != nil {
			return none, err
		}
		if err := c.beModule(c.side(side)); err != nil {
			return none, err
		}
	}
	for _, edit := range c.Edits {
		if err := edit.apply(ctx, c.side(Migrated), string(page)); err != nil {
			return none, err
		}
	}
	n, err := changed(c.side(Original), c.side(Migrated))
	if err != nil {
		return none, err
	}
	if n == none {
		return none, fmt.Errorf("the edits of %s change nothing", c.Name)
	}
	for _, side := range []string{Original, Linked, Migrated} {
		args := []string{"go", "mod", "edit", "-go=1.26.0"}
		if side != Original {
			args = append(args, "-require="+dewpond+"@v0.0.0", "-replace="+dewpond+"="+c.root)
		}
		if side == Linked {
			if err := c.linkedModule(); err != nil {
				return none, err
			}
			args = append(args, linkedModule)
		}
		e, err := c.do(ctx, Step{Dir: c.side(side), Args: args})
		if err != nil {
			return none, err
		} else if err := e.must("go.mod"); err != nil {
			return none, err
		}
	}
	return n, c.addLoads()
}

// beModule gives a copy a go.mod if it has none: it is of a module from before there were modules.
func (c copies) beModule(dir string) error {
	file, err := os.OpenFile(filepath.Join(dir, "go.mod"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "module %s\n", c.Module)
	return errors.Join(err, file.Close())
}

// linkedModule copies go.mod and go.sum, if there is one, for Linked.
func (c copies) linkedModule() error {
	for _, ext := range []string{".mod", ".sum"} {
		data, err := os.ReadFile(filepath.Join(c.side(Linked), "go"+ext))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.WriteFile(filepath.Join(c.side(Linked), strings.TrimSuffix(linkedModule, ".mod")+ext), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// addLoads puts the loads of all sides among the tests of their packages.
func (c copies) addLoads() error {
	for _, l := range c.Loads {
		for _, file := range []string{"harness.go", l.File, unused} {
			data, err := fs.ReadFile(loads, path.Join("_loads", file))
			if err != nil {
				return err
			}
			text := strings.Replace(string(data), "package load\n", "package "+l.As+"\n", 1)
			for _, side := range []string{Original, Migrated} {
				name := filepath.Join(c.side(side), l.Package, "dewpond_"+strings.TrimSuffix(file, ".go")+"_test.go")
				if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// binary is where the compiled tests of a package are.
func (c copies) binary(side, pkg string) string {
	return filepath.Join(c.side(side), side+"-"+strings.NewReplacer("/", "-", ".", "root").Replace(pkg)+".exe")
}

func (c copies) build(ctx context.Context, side, pkg string) error {
	args := []string{"go", "test", "-c", "-vet=off"}
	if side == Linked {
		args = append(args, "-modfile="+linkedModule, "-tags=dewpond_linked")
	}
	args = append(args, "-o", c.binary(side, pkg), "./"+pkg)
	e, err := c.do(ctx, Step{Dir: c.side(side), Args: args, Env: c.temporary()})
	if err != nil {
		return err
	}
	return e.must(fmt.Sprintf("the tests of %s, %s, %s, do not compile", c.Name, pkg, side))
}

// test runs the tests of a package, or those that pattern names if it is not empty.
func (c copies) test(ctx context.Context, side, pkg, pattern, check string) (Ending, error) {
	args := []string{c.binary(side, pkg), "-test.v", "-test.timeout=30m"}
	if pattern == "" {
		pattern = c.Tests
	}
	if pattern != "" {
		args = append(args, "-test.run="+pattern)
	}
	if c.Skip != "" {
		args = append(args, "-test.skip=^"+c.Skip+"$")
	}
	return c.do(ctx, Step{Dir: filepath.Join(c.side(side), pkg), Args: args, Env: append(c.temporary(), check)})
}

func (c copies) load(ctx context.Context, v variant, l Load) (*figures, error) {
	ops := strconv.Itoa(l.Ops)
	name, env := l.Name, append(c.temporary(), "DEWPOND_LOAD_OPS="+ops, "DEWPOND_BUBBLES=off")
	if l.Procs > 0 {
		procs := fmt.Sprintf("GOMAXPROCS=%d", l.Procs)
		name, env = strings.TrimSuffix(name, ", "+procs), append(env, procs)
	}
	e, err := c.do(ctx, Step{
		Dir:  filepath.Join(c.side(v.side), l.Package),
		Args: []string{c.binary(v.side, l.Package), "-test.run=^TestDewpondLoad$", "-test.benchtime=" + ops + "x"},
		// Pools are to be as in the program, which is no test and has no bubbles.
		Env: slices.Concat(env, []string{"DEWPOND_LOAD=" + name}, v.env),
	})
	switch {
	case err != nil:
		return nil, err
	case e.Load == nil:
		return nil, fmt.Errorf("the load printed no figures: %s", strings.TrimSpace(e.Said))
	}
	return e.Load, e.must("the load failed")
}

// temporary has what a process leaves behind removed with the rest.
func (c copies) temporary() []string { return []string{"TMPDIR=" + filepath.Join(c.dir, "tmp")} }
