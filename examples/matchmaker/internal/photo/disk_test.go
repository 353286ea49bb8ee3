package photo

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"
)

// asDisk is set in the environment of a test's program that has a photo on a Disk and is killed.
const asDisk = "MATCHMAKER_TEST_DISK"

func TestMain(m *testing.M) {
	if os.Getenv(asDisk) != "" {
		d, err := NewDisk()
		if err == nil {
			err = d.Put(context.Background(), 7, []byte("x"))
		}
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(d.path(7) + "\n")
		select {}
	}
	os.Exit(m.Run())
}

// The photos of a process that was killed are gone when the next one starts.
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
	if _, err := os.Stat(left); err != nil {
		t.Error(err)
	}
	c.Process.Kill()
	c.Wait()
	d, err := NewDisk()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left by a process that was killed: %v", left, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) > 0 {
		t.Errorf("%v: %v are left", err, all)
	}
}
