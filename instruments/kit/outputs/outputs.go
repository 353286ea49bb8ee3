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
type Files[D any] struct {
	// Private says that what is written may hold secrets: see [WritePrivate]. It is set before Open.
	Private bool

	all []func(D) error
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
	private := f.Private
	f.all = append(f.all, func(d D) error {
		return writeFile(path, private, func(w io.Writer) error { return format(w, d) })
	})
	return nil
}

// OpenDir makes a directory for files that write makes of the report, and looks whether there can be
// any. An empty dir is none. The error names the flag.
func (f *Files[D]) OpenDir(flag, dir string, write func(dir string, d D) error) error {
	if dir == "" {
		return nil
	}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = tryBeside(filepath.Join(dir, "any"))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	f.all = append(f.all, func(d D) error { return write(dir, d) })
	return nil
}

// Write writes the report to every file: see [WriteFile].
func (f *Files[D]) Write(d D) error {
	var errs []error
	for _, write := range f.all {
		errs = append(errs, write(d))
	}
	return errors.Join(errs...)
}

// WriteBytes is [WriteFile] for what is there as a whole.
func WriteBytes(path string, data []byte) error {
	return WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteFile writes a file beside the one that path names, and renames it when it is whole. So an
// old file stays as it was if the disk is full or the program is killed, and of two that write at
// the same time one wins. What is no regular file, such as a terminal or a pipe, is written to.
func WriteFile(path string, write func(io.Writer) error) error { return writeFile(path, false, write) }

// WritePrivate is WriteFile for what may hold secrets: nobody but its owner may read the file,
// whatever the permissions of an old one were.
func WritePrivate(path string, write func(io.Writer) error) error {
	return writeFile(path, true, write)
}

func writeFile(path string, private bool, write func(io.Writer) error) error {
	f, err := create(path, private)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := write(f); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return f.Commit()
}

// A File is written beside the one that its path names, and takes that name when it is whole: see
// [WriteFile]. One goroutine at a time may use it.
type File struct {
	path   string
	file   *os.File
	beside bool // and not written to itself
	err    error
	ended  bool
}

// CreatePrivate begins a file as [WritePrivate] writes it. The caller ends it by Commit or Discard.
func CreatePrivate(path string) (*File, error) { return create(path, true) }

func create(path string, private bool) (*File, error) {
	path, regular, err := resolve(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, beside: regular}
	if regular {
		f.file, err = besides(path, private)
	} else {
		f.file, err = os.OpenFile(path, os.O_WRONLY, 0)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Write implements [io.Writer]. After an error there is no whole file: Commit returns it, too.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	if f.err == nil {
		f.err = err
	}
	return n, err
}

// Commit gives the file its name. If it cannot, an old file of that name stays as it was.
func (f *File) Commit() error {
	if f.err == nil && f.beside {
		f.err = f.file.Sync() // or a crash of the system could leave a file of this name without its bytes
	}
	if closed := f.file.Close(); f.err == nil {
		f.err = closed
	}
	if f.err == nil && f.beside {
		f.err = os.Rename(f.file.Name(), f.path)
	}
	f.ended = f.err == nil
	f.Discard()
	if f.err != nil {
		return fmt.Errorf("%s: %w", f.path, f.err)
	}
	return nil
}

// Discard forgets what was written. After Commit it does nothing.
func (f *File) Discard() {
	if f.ended {
		return
	}
	f.ended = true
	f.file.Close()
	if f.beside {
		os.Remove(f.file.Name())
	}
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
// have, or if it is private with those of its owner. Its error names path, and not that file, which
// nobody has heard of.
func besides(path string, private bool) (_ *os.File, err error) {
	defer func() {
		if wrong := (*os.PathError)(nil); errors.As(err, &wrong) {
			err = fmt.Errorf("making a file in the folder of %s: %w", path, wrong.Err)
		}
	}()
	name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.tmp", filepath.Base(path), rand.Uint64()))
	mode := os.FileMode(0o644)
	if private {
		mode = 0o600
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil || private {
		return f, err
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
	return tryBeside(path)
}

// tryBeside returns an error if there can be no file in the folder of path.
func tryBeside(path string) error {
	f, err := besides(path, true)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
