// Package outputs writes a report to the files that flags name. That they can be written is found
// out before anything is measured, so that a wrong path is an error at once and not after minutes.
package outputs

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Files are the files that a report D is written to. The zero value has none.
type Files[D any] struct{ all []file[D] }

type file[D any] struct {
	path   string
	format func(io.Writer, D) error
}

// Open adds a file, and looks whether it can be written. An empty path is none. The error names
// the flag.
func (f *Files[D]) Open(flag, path string, format func(io.Writer, D) error) error {
	if path == "" {
		return nil
	}
	if err := writable(path); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	f.all = append(f.all, file[D]{path, format})
	return nil
}

// Write writes the report to every file: see [WriteFile].
func (f *Files[D]) Write(d D) error {
	var errs []error
	for _, out := range f.all {
		errs = append(errs, WriteFile(out.path, func(w io.Writer) error { return out.format(w, d) }))
	}
	return errors.Join(errs...)
}

// WriteFile writes a file beside the one that path names, and renames it when it is whole. So an
// old file stays as it was if the disk is full or the program is killed, and of two that write at
// the same time one wins. What is no regular file, such as a terminal or a pipe, is written to.
func WriteFile(path string, write func(io.Writer) error) error {
	path, regular, err := resolve(path)
	if err != nil {
		return err
	}
	if !regular {
		return writeTo(path, write)
	}
	beside, err := besides(path)
	if err != nil {
		return err
	}
	err = write(beside)
	if err == nil {
		err = beside.Sync() // or a crash of the system could leave a file of this name without its bytes
	}
	if err = errors.Join(err, beside.Close()); err == nil {
		err = os.Rename(beside.Name(), path)
	}
	if err != nil {
		os.Remove(beside.Name())
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func writeTo(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// resolve follows links, and reports whether the path is that of a regular file or of none yet.
func resolve(path string) (resolved string, regular bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return path, true, nil
	case err != nil:
		return "", false, err
	case info.IsDir():
		return "", false, fmt.Errorf("%s is a directory: give the name of a file in it", path)
	case !info.Mode().IsRegular():
		return path, false, nil
	}
	resolved, err = filepath.EvalSymlinks(path)
	return resolved, true, err
}

// besides makes an empty file in the folder of path, with the permissions that path has or will
// have.
func besides(path string) (*os.File, error) {
	name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.tmp", filepath.Base(path), rand.Uint64()))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			f.Close()
			os.Remove(name)
			return nil, err
		}
	}
	return f, nil
}

// writable returns an error if WriteFile could not write, as far as can be known before.
func writable(path string) error {
	path, regular, err := resolve(path)
	if err != nil || !regular {
		return err
	}
	if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
		f.Close()
	} else if !errors.Is(err, os.ErrNotExist) {
		return err // its owner does not want it to be written
	}
	f, err := besides(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
