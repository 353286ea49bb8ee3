package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

type question struct {
	Number int
	What   string
	File   string
	Orphan bool
}

// TestMain answers if a test has started this test binary as its child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "parent" { // of a child that waits
		var got int
		Run(context.Background(), []string{"serve"}, question{What: "wait", File: os.Args[2], Orphan: true}, &got)
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		if err := Serve(answer); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if text := os.Getenv(told); text != "" { // it says what it was told, and stays
		var says string
		if err := json.Unmarshal([]byte(text), &says); err != nil {
			panic(err)
		}
		fmt.Println(says)
		io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

const told = "DEWPOND_CHILD_TEST"

// A Process has said its line when it is started, and ends with Close.
func TestProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	answer := 0
	p, err := StartFor(told, "7", &answer)
	if err != nil || answer != 7 || p.PID() == os.Getpid() {
		t.Fatalf("%d, %v", answer, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := StartFor(told, "no number", &answer); err == nil || !strings.Contains(err.Error(), "invalid character") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p, err = Start(ctx, nil, []string{told + `="8"`}, &answer)
	if err != nil || answer != 8 {
		t.Fatalf("%d, %v", answer, err)
	}
	cancel()
	if err := p.command.Wait(); err == nil { // its standard input is open
		t.Error("the end of ctx does not end the child")
	}
}

func answer(ctx context.Context, q question) (int, error) {
	switch q.What {
	case "fail":
		return 0, errors.New("cannot do " + strings.Repeat("x", 10_000))
	case "silence":
		os.Exit(0)
	case "wait":
		if err := os.WriteFile(q.File, nil, 0o644); err != nil { // the file shows that the child listens
			return 0, err
		}
		<-ctx.Done()
		if q.Orphan && context.Cause(ctx) != ErrOrphaned {
			return 0, context.Cause(ctx)
		}
		if err := os.Remove(q.File); err != nil { // and that it has been told to end
			return 0, err
		}
	}
	return q.Number + 1, nil
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	var got int
	if err := Run(context.Background(), []string{"serve"}, question{Number: 41}, &got); err != nil || got != 42 {
		t.Errorf("the answer is %d, error %v; want 42", got, err)
	}
}

func TestRunSaysWhatTheChildSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	var got int
	err := Run(context.Background(), []string{"serve"}, question{What: "fail"}, &got)
	if err == nil || !strings.Contains(err.Error(), "exit status 1\ncannot do xxx") {
		t.Errorf("a child that fails gives error %.100v", err)
	} else if len(err.Error()) > 5000 {
		t.Errorf("the error has %d bytes: the beginning would do", len(err.Error()))
	}
	err = Run(context.Background(), []string{"serve"}, question{What: "silence"}, &got)
	if err == nil || !strings.Contains(err.Error(), "printed no answer") {
		t.Errorf("a child that says nothing gives error %v", err)
	}
}

// An interrupted child answers with what it has.
func TestRunInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	if runtime.GOOS == "windows" {
		t.Skip("no process can be interrupted there")
	}
	file := filepath.Join(t.TempDir(), "listening")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for _, err := os.Stat(file); err != nil; _, err = os.Stat(file) {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	var got int
	if err := Run(ctx, []string{"serve"}, question{Number: 1, What: "wait", File: file}, &got); err != nil || got != 2 {
		t.Errorf("the answer is %d, error %v; want 2", got, err)
	}
}

// A child ends with its parent, also if that is killed.
func TestChildEndsWithItsParent(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "listening")
	parent := exec.Command(exe, "parent", file)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	until := func(exists bool) {
		for _, err := os.Stat(file); (err == nil) != exists; _, err = os.Stat(file) {
			time.Sleep(time.Millisecond)
		}
	}
	until(true)
	parent.Process.Kill()
	parent.Wait()
	until(false) // a child that goes on ends in the test's timeout
}
