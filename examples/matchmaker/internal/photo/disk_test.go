package photo

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// asDisk is set in the environment of a test's program that has a Disk and is killed.
const asDisk = "MATCHMAKER_TEST_DISK"

func TestMain(m *testing.M) {
	if os.Getenv(asDisk) != "" {
		d, err := NewDisk()
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(d.dir + "\n")
		select {}
	}
	os.Exit(m.Run())
}

// The directory of a process that was killed is gone when the next one starts, and that of one that
// runs is not.
func TestKilledDiskIsRemoved(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	dir, err := os.MkdirTemp("", "mm") // t.TempDir is long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	t.Setenv("TMPDIR", dir)
	if err := os.Mkdir(filepath.Join(dir, diskPrefix+"x"), 0o700); err != nil { // about to get a socket
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), asDisk+"=1")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	left := line[:len(line)-1]
	if err := os.WriteFile(filepath.Join(left, "7.jpg"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := NewDisk() // while that one lives
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, err := os.Stat(filepath.Join(left, "7.jpg")); err != nil {
		t.Errorf("the photos of a process that runs: %v", err)
	}
	c.Process.Kill()
	c.Wait()
	second, err := NewDisk()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left by a process that was killed: %v", left, err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(all) != 2 { // the first's, and that without a socket
		t.Errorf("%v, %v", all, err)
	}
}
