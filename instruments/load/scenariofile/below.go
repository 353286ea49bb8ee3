package scenariofile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// readBelow reads a file that the scenario names, relative to the scenario's own directory. It reads
// none that is outside of the root: a scenario that somebody sent would have it sent to its target.
func (f *File) readBelow(name string) ([]byte, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	root := cmp.Or(f.root, f.dir)
	below, err := relative(root, path)
	if err != nil {
		return nil, err
	}
	outside := fmt.Errorf("%s is not below %s, and a scenario reads no file elsewhere: --data-root DIR widens that", name, root)
	if !filepath.IsLocal(below) {
		return nil, outside
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info, err := r.Stat(below)
	if err == nil && !info.Mode().IsRegular() { // to open a pipe would be to wait for who writes to it
		return nil, fmt.Errorf("%s is no file", name)
	}
	var in *os.File
	if err == nil {
		in, err = r.Open(below)
	}
	var wrong *os.PathError
	switch {
	case errors.As(err, &wrong) && strings.Contains(wrong.Err.Error(), "escapes"): // a link that leads outside; os has no name for this error
		return nil, outside
	case wrong != nil:
		return nil, fmt.Errorf("open %s: %w", name, wrong.Err)
	case err != nil:
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

// relative returns the path as it is seen from root.
func relative(root, path string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	return filepath.Rel(root, path)
}
