package rig

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/scenariofile"

	"github.com/dewpond/dewpond/examples/matchmaker/account"
)

// A program is the service that is measured.
type program struct {
	Service string `type:"existingfile" placeholder:"FILE" help:"Measure the program FILE. The default is to build the service of this repository with the Go tool."`
}

// folders is how the names of directories begin with what is built, and where a service listens.
const folders = "matchmaker-lab-"

// build has the program be there. The caller calls remove.
func (p *program) build(ctx context.Context) (remove func() error, err error) {
	if p.Service != "" {
		return func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", folders)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "matchmaker.exe")
	said, err := exec.CommandContext(ctx, "go", "build", "-o", file, "github.com/dewpond/dewpond/examples/matchmaker").CombinedOutput()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the service was not built: %w: %.300s; run this inside the repository, or give --service FILE", err, said), os.RemoveAll(dir))
	}
	p.Service = file
	return func() error { return os.RemoveAll(dir) }, nil
}

// A childService is the service in a process of its own.
type childService struct {
	command   *exec.Cmd
	addresses addresses
	dir       string
}

// addresses are those of the service's that are asked, as its --addresses writes them.
type addresses struct {
	HTTP  string `json:"http"`
	Admin string `json:"admin"`
}

// start starts the service, on free ports, and returns when it is ready.
func (p *program) start(ctx context.Context, args []string, environment ...string) (*childService, error) {
	s := &childService{}
	var err error
	if s.dir, err = os.MkdirTemp("", folders); err != nil {
		return nil, err
	}
	file := filepath.Join(s.dir, "addresses.json")
	s.command = exec.Command(p.Service, append([]string{"serve", "--http=127.0.0.1:0", "--https=127.0.0.1:0", "--grpc=127.0.0.1:0", "--admin=127.0.0.1:0", "--addresses=" + file}, args...)...)
	s.command.Env = append(append(withoutCollector(os.Environ()), "MATCHMAKER_HAS_PARENT=1"), environment...)
	if _, err := s.command.StdinPipe(); err != nil { // open until this process ends
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	said := new(strings.Builder)
	s.command.Stderr = said
	out, err := s.command.StdoutPipe()
	if err == nil {
		err = s.command.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	over := context.AfterFunc(ctx, func() { s.command.Process.Kill() })
	defer over()
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &s.addresses)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the service did not start: %w", err), s.stop(), errors.New(strings.TrimSpace(said.String())))
	}
	go io.Copy(io.Discard, out) // it says no more, until Wait closes the pipe
	return s, nil
}

// withoutCollector drops what sets the collector: flags do.
func withoutCollector(env []string) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, "GOGC=") && !strings.HasPrefix(e, "GOMEMLIMIT=") {
			out = append(out, e)
		}
	}
	return out
}

// stop ends the service as Ctrl-C does, or by force where there is none.
func (s *childService) stop() error {
	if s.command.Process.Signal(os.Interrupt) != nil {
		s.command.Process.Kill()
	}
	err := s.command.Wait()
	return errors.Join(err, os.RemoveAll(s.dir))
}

// sessions returns the sessions of dewload --example, which are not judged.
func (s *childService) sessions(arrivals load.Arrivals) (load.Scenario, error) {
	file, err := scenariofile.Parse("session.yaml", []byte(scenariofile.Example))
	if err != nil {
		return load.Scenario{}, err
	}
	scenario := file.Scenario
	scenario.Target, scenario.Arrivals = "http://"+s.addresses.HTTP, arrivals
	scenario.Thresholds, scenario.Abort = nil, load.Abort{}
	return scenario, nil
}

// measured runs a scenario, and says what the service did meanwhile.
func (s *childService) measured(ctx context.Context, scenario load.Scenario) (load.Result, account.Window, error) {
	before, err := s.account(ctx)
	if err != nil {
		return load.Result{}, account.Window{}, err
	}
	result, err := load.Run(ctx, scenario, load.Options{})
	if err != nil {
		return result, account.Window{}, err
	}
	after, err := s.account(ctx)
	return result, account.Between(before, after), err
}

func (s *childService) account(ctx context.Context) (a account.Snapshot, err error) {
	err = ask(ctx, http.MethodGet, "http://"+s.addresses.Admin+"/admin/account", &a)
	return a, err
}

// ask asks once, on a connection of its own, and decodes the answer if into is not nil.
func ask(ctx context.Context, method, url string, into any) error {
	q, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err
	}
	q.Close = true
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	switch {
	case a.StatusCode != http.StatusOK:
		text, _ := io.ReadAll(io.LimitReader(a.Body, 1<<10))
		return fmt.Errorf("%s: %s", a.Status, text)
	case into == nil:
		return nil
	}
	return json.NewDecoder(a.Body).Decode(into)
}
