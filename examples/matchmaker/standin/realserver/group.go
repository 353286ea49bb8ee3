package realserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A group is what the monitor has started, and the directory that all files are in.
type group struct {
	dir       string
	launcher  []string // goes before a program
	processes []*process
}

func newGroup() (*group, error) {
	launcher, err := launcher()
	if err != nil {
		launcher = nil // Redis does without
	}
	dir, err := os.MkdirTemp("", "matchmaker-servers-")
	if err != nil {
		return nil, err
	}
	return &group{dir: dir, launcher: launcher}, os.Chmod(dir, 0o711) // another user works below
}

// unprivileged are the users that servers run as, where the caller is root.
var unprivileged = []string{"postgres", "nobody"}

// launcher is what goes before a server's program. On Linux setpriv has the system kill the server
// with the monitor, even if that is killed itself; and it is how root starts a program as another
// user, which PostgreSQL insists on.
var launcher = sync.OnceValues(func() ([]string, error) {
	root := os.Geteuid() == 0
	if setpriv, err := exec.LookPath("setpriv"); err == nil {
		out := []string{setpriv, "--pdeathsig=KILL"}
		if u := anyUser(); root && u != nil {
			out = append(out, "--reuid="+u.Uid, "--regid="+u.Gid, "--clear-groups")
		}
		out = append(out, "--")
		if exec.Command(out[0], append(out[1:], "true")...).Run() == nil { // not every setpriv knows all that
			return out, nil
		}
	}
	if root {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and util-linux's setpriv, which starts it as another user, is %w", ErrMissing)
	}
	return nil, nil
})

func anyUser() *user.User {
	for _, name := range unprivileged {
		if u, err := user.Lookup(name); err == nil {
			return u
		}
	}
	return nil
}

// directory makes one for a server, which it may write.
func (g *group) directory() (string, error) {
	dir, err := os.MkdirTemp(g.dir, "server-")
	if err != nil {
		return dir, err
	}
	return dir, g.give(dir)
}

// write makes a file for a server, which nobody else may read.
func (g *group) write(file, text string) error {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	return g.give(file)
}

// give gives a file to the user that servers run as.
func (g *group) give(file string) error {
	if os.Geteuid() != 0 || g.launcher == nil {
		return nil
	}
	u := anyUser()
	if u == nil {
		return nil
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	return os.Chown(file, uid, gid)
}

// newSecret is a password that nobody guesses.
func newSecret() string { return rand.Text() }

// command is a program with the launcher before it. What it says goes to a file, of which the end
// is told where it fails.
func (g *group) command(ctx context.Context, dir, program string, args ...string) *exec.Cmd {
	all := append(append(slices.Clone(g.launcher), program), args...)
	c := exec.CommandContext(ctx, all[0], all[1:]...)
	c.Dir = dir
	return c
}

// A process is a server.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
	said    *bytes.Buffer // to be read when it has ended
}

var errEnded = errors.New("has ended")

// run starts a server, and returns when it answers. input is what it reads: who lists processes sees
// arguments, and not that.
func (g *group) run(ctx context.Context, answers func(context.Context) error, dir, input, program string, args ...string) error {
	p := &process{command: g.command(context.Background(), dir, program, args...), ended: make(chan struct{}), said: new(bytes.Buffer)}
	p.command.Stdin, p.command.Stdout, p.command.Stderr = strings.NewReader(input), p.said, p.said
	if err := p.command.Start(); err != nil {
		return err
	}
	g.processes = append(g.processes, p)
	go func() {
		defer close(p.ended)
		p.command.Wait()
	}()
	deadline := time.After(time.Minute)
	for {
		err := answers(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s %w: %s", filepath.Base(program), errEnded, tail(p.said.Bytes()))
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("%s does not answer: %w", filepath.Base(program), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// tries is how often a server that ends at once is started on another port: somebody else may have
// taken one that was free.
const tries = 3

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// onFreePort starts a server on a port that is free.
func onFreePort(start func(port string) error) (port string, err error) {
	for range tries {
		if port, err = freePort(); err != nil {
			return "", err
		}
		if err = start(port); !errors.Is(err, errEnded) {
			break
		}
	}
	return port, err
}

// patience is how long a server has to stop by itself.
const patience = 10 * time.Second

// stop ends the servers, the last one first, and removes their files.
func (g *group) stop() error {
	for _, p := range slices.Backward(g.processes) {
		if p.command.Process.Signal(os.Interrupt) != nil {
			p.command.Process.Kill()
		}
	}
	late := time.After(patience)
	for _, p := range g.processes {
		select {
		case <-p.ended:
		case <-late:
			late = time.After(0) // for the others too
			p.command.Process.Kill()
			<-p.ended
		}
	}
	return os.RemoveAll(g.dir)
}

// tail is the end of what a program has said.
func tail(b []byte) string {
	const most = 600
	b = bytes.TrimSpace(b)
	return string(b[max(0, len(b)-most):])
}

// newest returns the last of the programs that match a pattern, by their names.
func newest(patterns ...string) (string, error) {
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		if len(found) > 0 {
			return slices.Max(found), nil
		}
	}
	return "", errors.New("there is none")
}
