// Package tempdir has temporary directories that do not outlive their process for long: what a process
// that was killed has left is removed when the next one makes its own.
package tempdir

import (
	"net"
	"os"
	"path/filepath"
	"strings"
)

// A Dir is a directory, and in it a socket that answers for as long as its process lives, however that
// ends.
type Dir struct {
	Path  string
	alive net.Listener // nil where there can be none
}

// Names of the socket: the second one it has as soon as it answers.
const (
	newName   = "new"
	aliveName = "alive"
)

// New makes a directory whose name begins with prefix, and removes those of processes that have ended.
// The names of nothing else begin so.
func New(prefix string) (*Dir, error) {
	sweep(prefix)
	path, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: path}
	// Without it, as where the path is too long for a socket, the directory is nobody's to remove.
	l, err := net.Listen("unix", filepath.Join(path, newName))
	if err != nil {
		return d, nil
	}
	d.alive = l
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	os.Rename(filepath.Join(path, newName), filepath.Join(path, aliveName))
	return d, nil
}

// sweep removes the directories whose process has ended. One that has no socket may be about to get
// one.
func sweep(prefix string) {
	all, _ := os.ReadDir(os.TempDir()) // what cannot be read is not removed either
	for _, entry := range all {
		dir := filepath.Join(os.TempDir(), entry.Name())
		socket := filepath.Join(dir, aliveName)
		if !strings.HasPrefix(entry.Name(), prefix) {
			continue
		}
		if _, err := os.Lstat(socket); err == nil && ended(socket) {
			os.RemoveAll(dir)
		}
	}
}

// ended reports whether nobody listens on a socket any more. Who cannot be asked may well live: it may
// have too many callers at once, or this process too many files open.
func ended(socket string) bool {
	c, err := net.Dial("unix", socket)
	if err == nil {
		c.Close()
		return false
	}
	return strings.Contains(err.Error(), refused)
}

// refused is in the texts of the systems' errors: their numbers would take package syscall.
const refused = "refused"

// Close removes the directory.
func (d *Dir) Close() error {
	if d.alive != nil {
		d.alive.Close()
	}
	return os.RemoveAll(d.Path)
}
