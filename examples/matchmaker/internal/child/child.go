// Package child starts this program again, as a process of its own that ends with this one.
package child

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
)

// A Process is this program again. Its standard input ends when Close is called, and when this
// process ends, however that does.
type Process struct {
	command *exec.Cmd
	in      io.Closer
}

// Start starts the program with a variable in its environment, by which it knows what it is for,
// and which is spec in JSON. It returns when the child has said one line, which is JSON, into
// answer.
func Start(variable string, spec, answer any) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	p := &Process{command: exec.Command(self)}
	p.command.Env = append(os.Environ(), variable+"="+string(text))
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

// PID is the child's process.
func (p *Process) PID() int { return p.command.Process.Pid }

// Close ends the child's standard input, and waits for the child.
func (p *Process) Close() error {
	p.in.Close()
	return p.command.Wait()
}
