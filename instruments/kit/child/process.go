package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
)

// A Process is this program again, which serves this one. Its standard input ends when Close is
// called, and when this process ends, however that does: the child ends then.
type Process struct {
	command *exec.Cmd
	in      io.Closer
}

// Start starts this program with the given arguments, and with variables in its environment beside
// those that it inherits. It returns when the child has said one line, which is JSON, into answer. If
// ctx ends, the child is killed.
func Start(ctx context.Context, args, env []string, answer any) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &Process{command: exec.CommandContext(ctx, self, args...)}
	p.command.Env = append(os.Environ(), env...)
	p.command.Stderr = os.Stderr
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, answer)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// StartFor is Start without arguments: the child knows what it is for by a variable in its environment,
// whose value is spec in JSON.
func StartFor(variable string, spec, answer any) (*Process, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	return Start(context.Background(), nil, []string{variable + "=" + string(text)}, answer)
}

// PID is the child's process.
func (p *Process) PID() int { return p.command.Process.Pid }

// Close ends the child's standard input, and waits for the child.
func (p *Process) Close() error {
	p.in.Close()
	return p.command.Wait()
}
