package main

import (
	"bufio"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/matchmaker"
)

// ofTest in the environment makes a command end with the test that started it, however that ends.
const ofTest = "DEWLOAD_TEST_PARENT"

func endWithTest() {
	if os.Getenv(ofTest) == "" {
		return
	}
	os.Unsetenv(ofTest) // its own children have their own ways
	go func() {
		io.Copy(io.Discard, os.Stdin) // until the test's end
		os.Exit(1)
	}()
}

// dewload is the command as a process, with its standard error, that leaves its files in a directory. The test's end ends it.
func dewload(t *testing.T, files string, inherits []*os.File, args ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	if runtime.GOOS == "windows" {
		t.Skip("no process can be interrupted there")
	}
	c := exec.Command(os.Args[0], args...)
	c.Args[0] = "dewload" // see TestMain
	c.Env = append(os.Environ(), "TMPDIR="+files, ofTest+"=1")
	c.ExtraFiles = inherits
	if _, err := c.StdinPipe(); err != nil { // see endWithTest
		t.Fatal(err)
	}
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	return c, bufio.NewScanner(stderr)
}

// await reads until a line has the text.
func await(t *testing.T, lines *bufio.Scanner, text string) {
	t.Helper()
	var all []string
	for lines.Scan() {
		all = append(all, lines.Text())
		if strings.Contains(lines.Text(), text) {
			return
		}
	}
	t.Fatalf("it did not say %q: %q", text, all)
}

// TestInterruptedWhileGathering ends a command by Ctrl-C that waits for agents.
func TestInterruptedWhileGathering(t *testing.T) {
	c, lines := dewload(t, t.TempDir(), nil, "http://127.0.0.1:1/", "--agents", "1", "--listen", "127.0.0.1:0", "--join", "1h")
	await(t, lines, "waits for 1 agents to come")
	c.Process.Signal(os.Interrupt)
	await(t, lines, "interrupted before the first session")
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d", code)
	}
}

// An orphanage is a coordinator that has agents of its own, and is about to end.
type orphanage struct {
	*exec.Cmd
	lines *bufio.Scanner
	files string   // where it and its agents leave theirs
	all   *os.File // ends when the coordinator and its agents have ended, for all of them inherit it
}

func startOrphans(t *testing.T, args ...string) *orphanage {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	defer w.Close()
	o := &orphanage{all: r, files: t.TempDir()}
	o.Cmd, o.lines = dewload(t, o.files, []*os.File{w}, args...)
	return o
}

// ends sends the signal, and waits until all have ended.
func (o *orphanage) ends(t *testing.T, signal string) {
	t.Helper()
	if out, err := exec.Command("kill", "-"+signal, strconv.Itoa(o.Process.Pid)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var all []string
	for o.lines.Scan() {
		all = append(all, o.lines.Text())
	}
	io.Copy(io.Discard, o.all)
	o.Wait()
	left, err := os.ReadDir(o.files)
	if err != nil || len(left) > 0 {
		t.Errorf("%v: files are left: %v", err, left)
	}
	if code := o.ProcessState.ExitCode(); signal == "TERM" && code != 130 {
		t.Errorf("exit code %d: %q", code, all)
	}
}

// TestCoordinatorKilled ends the coordinator of agents that it has started, when they connect and when they
// load. The agents end, the NATS within ends, and no file is left.
func TestCoordinatorKilled(t *testing.T) {
	for _, signal := range []string{"TERM", "KILL"} {
		t.Run(signal+"/connecting", func(t *testing.T) {
			mute, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer mute.Close()
			o := startOrphans(t, "https://"+mute.Addr().String(), "--agents", "2")
			c, err := mute.Accept() // of an agent that has its place
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			o.ends(t, signal)
		})
		t.Run(signal+"/loading", func(t *testing.T) {
			target := matchmaker.Start(false)
			defer target.Close()
			o := startOrphans(t, target.URL+"/img/u/a", "--rate", "100", "--duration", "1h", "--agents", "2")
			for target.Requests() < 20 {
				time.Sleep(time.Millisecond)
			}
			if signal == "TERM" {
				await(t, o.lines, " in flight, ") // how far it is
			}
			o.ends(t, signal)
		})
	}
}

// TestAuthorityTravels wants agents to know the authority of --ca.
func TestAuthorityTravels(t *testing.T) {
	target := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer target.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: target.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	c, lines := dewload(t, t.TempDir(), nil, target.URL, "--ca", file, "--rate", "20", "--duration", "500ms", "--timeout", "60s", "--agents", "2")
	await(t, lines, "2 agents start")
	for lines.Scan() { // so that it need not wait for its reader
	}
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 0 && code != 4 { // not valid, on a busy machine
		t.Errorf("exit code %d", code)
	}
}
