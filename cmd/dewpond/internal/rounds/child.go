package rounds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/result"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

// grace is how long an interrupted child may take to print what it has. Its signal
// goroutine queues behind those that it measures: 2.5 s behind 512 on 2 processors.
const grace = 5 * time.Second

// child runs one round in a new process of this same program.
func child(ctx context.Context, spec workload.Spec) (result.Round, error) {
	var r result.Round
	in, err := json.Marshal(spec)
	if err != nil {
		return r, err
	}
	exe, err := os.Executable()
	if err != nil {
		return r, err
	}
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, exe, "round")
	cmd.Args[0] = os.Args[0] // under test the program is known by this name
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &complaint
	// After Ctrl-C on a terminal this is the child's second interrupt: it heeds
	// the first.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	// An interrupted child that still ended well has something to say.
	if err := cmd.Run(); err != nil && !(ctx.Err() != nil && out.Len() > 0) {
		return r, fmt.Errorf("round %d of %s: %w\n%s", spec.Round, spec.Contender, err, head(complaint.Bytes()))
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return r, fmt.Errorf("round %d of %s printed no round: %w", spec.Round, spec.Contender, err)
	}
	return r, nil
}

// head keeps the beginning of what a failed child said: a crash with 512 goroutines
// has much to say, and its cause comes first.
func head(b []byte) []byte {
	const most = 4 << 10
	return bytes.TrimSpace(b[:min(len(b), most)])
}
