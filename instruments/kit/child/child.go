// Package child runs a function in a child process, which runs this same program, or another
// build of it. [Run] is the parent's side, [Serve] the child's. A child that goes on while its parent
// does is a [Process].
package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/interrupt"
)

// grace is how long an interrupted child may take to print what it has. Its signal goroutine
// waits for a processor behind those that it measures: 2.5 s behind 512 on 2 processors.
const grace = 5 * time.Second

// Run starts this program with the given arguments, writes the question as JSON to its standard
// input, and decodes its output into answer. If ctx ends, it interrupts the child, which may
// still answer with what it has.
func Run(ctx context.Context, args []string, question, answer any) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	return RunProgram(ctx, exe, args, question, answer)
}

// RunProgram is [Run] with another build of this program.
func RunProgram(ctx context.Context, exe string, args []string, question, answer any) error {
	in, err := json.Marshal(question)
	if err != nil {
		return err
	}
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Args[0] = os.Args[0] // under test the program is known by this name
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.Env = append(os.Environ(), hasParent+"=1")
	// After Ctrl-C on a terminal this is the child's second interrupt: it acts on the first.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	stdin, err := cmd.StdinPipe() // open until the child ends: it ends with its parent
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go stdin.Write(in) // what a child does not read, it does not miss
	// An interrupted child that ended without an error has an answer.
	if err := cmd.Wait(); err != nil && !(ctx.Err() != nil && out.Len() > 0) {
		return fmt.Errorf("%w\n%s", err, head(complaint.Bytes()))
	}
	if err := json.Unmarshal(out.Bytes(), answer); err != nil {
		return fmt.Errorf("the child printed no answer: %w", err)
	}
	return nil
}

// head keeps the beginning of a failed child's output: a crash with 512 goroutines prints much,
// and its cause comes first.
func head(b []byte) []byte {
	const most = 4 << 10
	return bytes.TrimSpace(b[:min(len(b), most)])
}

// ErrOrphaned is the cause of a child's ctx that its parent's end has ended.
var ErrOrphaned = errors.New("the parent has ended")

// hasParent is set in the environment of a child whose standard input ends with its parent.
const hasParent = "DEWPOND_MEASURE_PARENT"

// Serve reads the question from standard input and prints the answer on standard output. Ctrl-C
// reaches the whole process group: it ends the ctx of answer, which then returns what it has.
// The parent reports. So does the parent's end, however it comes.
func Serve[Question, Answer any](answer func(context.Context, Question) (Answer, error)) error {
	ctx, end := interrupt.Context()
	defer end()
	var q Question
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		return fmt.Errorf("standard input holds no question: %w", err)
	}
	if os.Getenv(hasParent) != "" {
		var orphaned context.CancelCauseFunc
		ctx, orphaned = context.WithCancelCause(ctx)
		defer orphaned(nil)
		go func() {
			io.Copy(io.Discard, os.Stdin) // until the parent's end
			orphaned(ErrOrphaned)
			time.Sleep(grace)
			os.Exit(1)
		}()
	}
	a, err := answer(ctx, q)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(a)
}
