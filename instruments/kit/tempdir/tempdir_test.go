package tempdir

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// asChild is set in the environment of a test's program that has a Dir and is killed.
const asChild = "TEMPDIR_TEST_CHILD"

const prefix = "tempdir-test-"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) != "" {
		d, err := New(prefix)
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(d.Path + "\n")
		select {}
	}
	os.Exit(m.Run())
}

// here has temporary directories in one of the test's.
func here(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "td") // t.TempDir is long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	return dir
}

// start starts a process that has a Dir, and returns where.
func start(t *testing.T) (*exec.Cmd, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), asChild+"=1")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return c, line[:len(line)-1]
}

func exists(t *testing.T, file string) bool {
	t.Helper()
	_, err := os.Stat(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// The directory of a process that was killed is gone when the next one makes its own, and that of one
// that runs is not.
func TestKilled(t *testing.T) {
	dir := here(t)
	if err := os.Mkdir(filepath.Join(dir, prefix+"x"), 0o700); err != nil { // about to get a socket
		t.Fatal(err)
	}
	c, left := start(t)
	file := filepath.Join(left, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := New(prefix) // while that one lives
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if !exists(t, file) {
		t.Error("the directory of a process that runs was removed")
	}
	c.Process.Kill()
	c.Wait()
	other, err := New("other-")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if !exists(t, file) {
		t.Error("a directory of another name was removed")
	}
	second, err := New(prefix)
	if err != nil {
		t.Fatal(err)
	}
	if exists(t, left) {
		t.Errorf("%s is left by a process that was killed", left)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	all, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	if err != nil || len(all) != 2 { // the first's, and that without a socket
		t.Errorf("%v, %v", all, err)
	}
}

// Whose process cannot be asked is left alone.
func TestNotAsked(t *testing.T) {
	dir := here(t)
	path := filepath.Join(dir, prefix+"x")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(aliveName, filepath.Join(path, aliveName)); err != nil { // nobody gets through
		t.Skip(err)
	}
	d, err := New(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !exists(t, path) {
		t.Error("it was removed")
	}
}

// Directories that are made while others look for old ones stay.
func TestMadeMeanwhile(t *testing.T) {
	here(t)
	over := make(chan struct{})
	var looking sync.WaitGroup
	for range 2 {
		looking.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					sweep(prefix)
				}
			}
		})
	}
	for range 100 {
		d, err := New(prefix)
		if err != nil {
			t.Fatal(err)
		}
		if !exists(t, filepath.Join(d.Path, aliveName)) {
			t.Error("a new directory was removed")
		}
		d.Close()
	}
	close(over)
	looking.Wait()
}
