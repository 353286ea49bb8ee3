package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/child"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/kit/plain"
	"github.com/dewpond/dewpond/instruments/lab/internal/programs"
)

// A programsCommand measures public programs with dewpond in them.
type programsCommand struct {
	Names    []string `arg:"" optional:"" name:"name" help:"Measure these programs. The default is all."`
	Pairs    int      `default:"12" placeholder:"N" help:"Run each load N times of each side, in turn (default ${default}). Six are the fewest for a verdict."`
	Quick    bool     `help:"Run each load twice of each side, and give no verdict."`
	Tests    bool     `help:"Run the tests alone, and no loads. That takes minutes, and goes for bytebufferpool too, of which nothing is measured."`
	Loads    bool     `help:"Run the loads alone, without the programs' tests."`
	Procs    []int    `name:"gomaxprocs" sep:"," placeholder:"N,..." help:"Run each load at these values of GOMAXPROCS, such as 1,2,8 (default: the program's, or the number of processors)."`
	GOGC     bool     `name:"gogc" help:"Run the loads alone, of the programs at GOGC=100, 200 and 400 and of those with dewpond at 50 and 100, and print a table in Markdown."`
	Resume   string   `type:"path" xor:"kept" placeholder:"FILE" help:"Keep the figures in FILE after each program, as JSON. A program whose figures FILE has is not measured again."`
	Update   string   `type:"path" xor:"kept" placeholder:"FILE" help:"Measure the programs, and put their figures in the place of those that FILE has of them, as JSON. Report all that FILE has then, each with its date."`
	Markdown string   `type:"path" placeholder:"FILE" help:"Write the report as the document that the repository keeps, docs/adoption.md, to FILE."`
}

// Help returns what the command does.
func (*programsCommand) Help() string {
	var names []string
	for _, p := range programs.All() {
		names = append(names, p.Name)
	}
	return `Downloads public programs from the module proxy, edits a copy of each to use dewpond's pools instead of its own, runs its tests as they are, with dewpond and with DEWPOND_CHECK=all, and then runs loads on both copies and on a third, interleaved: the program as it is, with dewpond linked and one pool made that it does not use. Figures are compared with those of the third.

The programs are ` + strings.Join(names, ", ") + `. All take some three hours on 2 processors that others use too. Of nats-server's tests of its file store a disk has its share: TMPDIR=/dev/shm, or another directory in memory, saves most of it. It needs bash and GNU sed.

Examples:

    # one program, in a minute or two
    lab programs fasttemplate --quick
    # two, with verdicts
    lab programs dns zap
    # the tests of one
    lab programs --tests bytebufferpool
    # its loads alone, at two values of GOMAXPROCS
    lab programs --loads --gomaxprocs 2,8 kafka-go
    # the loads of one at several values of GOGC
    lab programs --gogc wireguard-go
    # all, or those that figures.json lacks
    lab programs --resume figures.json
    # one program's rows in the repository's document anew
    lab programs zap --update instruments/lab/testdata/programs.json \
        --markdown docs/adoption.md

Ctrl-C or SIGTERM ends the run. With --resume it goes on later where it was.`
}

// pageCommand writes the document that the repository keeps, and what it is made of.
const pageCommand = "go run ./instruments/lab programs --update instruments/lab/testdata/programs.json --markdown docs/adoption.md"

func (c *programsCommand) Run(ctx context.Context) error {
	known := programs.All()
	if c.Tests {
		known = programs.Tested()
	}
	chosen, err := programs.Find(known, c.Names)
	if err != nil {
		return command.UsageError{Err: err}
	}
	if c.Pairs < 1 {
		return command.UsageError{Err: fmt.Errorf("--pairs %d: give 1 or more, such as 12", c.Pairs)}
	}
	if slices.ContainsFunc(c.Procs, func(n int) bool { return n < 1 }) {
		return command.UsageError{Err: errors.New("--gomaxprocs: give values of 1 or more, such as 1,2,8")}
	}
	if c.Loads && (c.Tests || c.Resume+c.Update+c.Markdown != "") {
		return command.UsageError{Err: errors.New("--loads leaves the tests out, which the document has: give neither --tests, --resume, --update nor --markdown")}
	}
	if c.Quick && c.Update != "" {
		return command.UsageError{Err: errors.New("--update keeps figures for verdicts, and --quick measures too few: leave one of them out")}
	}
	if c.Tests && c.Resume+c.Update+c.Markdown != "" {
		return command.UsageError{Err: errors.New("--tests measures nothing: give neither --resume, --update nor --markdown")}
	}
	if c.GOGC && (c.Tests || c.Resume+c.Update+c.Markdown != "") {
		return command.UsageError{Err: errors.New("--gogc prints its table and keeps nothing: give neither --tests, --resume, --update nor --markdown")}
	}
	var document outputs.Files[programs.Report]
	if err := document.Open("--markdown", c.Markdown, programs.Markdown); err != nil {
		return err
	}
	kept, err := resumed(c.file())
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/dewpond/dewpond").Output()
	if err != nil {
		return fmt.Errorf("run this inside the repository: go list -m: %w", err)
	}
	dir, err := os.MkdirTemp("", "dewpond-lab-programs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root := strings.TrimSpace(string(out))
	b := programs.Bench{Dir: dir, Root: root, Pairs: c.Pairs, Procs: c.Procs, Commit: commit(ctx, root), LoadsAlone: c.Loads, Do: step}
	if c.Quick {
		b.Pairs = 2
	}
	r, faults, err := c.measure(ctx, b, known, chosen, kept)
	if err != nil {
		return err
	}
	write := programs.Text
	if c.GOGC {
		write = programs.GOGC
	}
	if err := write(os.Stdout, r); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.Join(append(faults, errors.New("the tables show the programs that were done until then"))...) // run says by what
	}
	return errors.Join(append(faults, document.Write(r))...)
}

// commit names the repository's commit, or is empty if there is none to name.
func commit(ctx context.Context, root string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", root, "describe", "--always", "--dirty", "--exclude=*").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// file is where figures are kept, if anywhere: kong lets one of the two be given.
func (c *programsCommand) file() string { return c.Resume + c.Update }

// measure measures the chosen of the known programs, without those that are taken as they are kept. Faults are what the
// run fails for when all are done.
func (c *programsCommand) measure(ctx context.Context, b programs.Bench, known, chosen []programs.Program, kept []programs.Outcome) (r programs.Report, faults []error, err error) {
	r.Command, r.Programs = pageCommand, known
	measure := b.Measure
	if c.GOGC {
		measure = b.MeasureGOGC
	}
	for _, p := range chosen {
		i := slices.IndexFunc(kept, func(o programs.Outcome) bool { return o.Program == p.Name && o.Version == p.Version })
		if i >= 0 && c.Update == "" {
			r.Outcomes = append(r.Outcomes, kept[i])
			faults = append(faults, kept[i].Faults(p)...)
			continue
		}
		o, err := measure(ctx, p)
		if ctx.Err() != nil {
			break
		} else if err != nil {
			fmt.Fprintf(os.Stderr, "lab: %s\n", plain.Text(err.Error())) // the others go on, for an hour
			faults, r.Failed = append(faults, err), append(r.Failed, p.Name)
			continue
		}
		r.Outcomes = append(r.Outcomes, o)
		faults = append(faults, o.Faults(p)...)
		kept = programs.Replace(kept, o)
		if c.file() == "" {
			continue
		}
		if err := keep(c.file(), kept); err != nil {
			return r, nil, err
		}
	}
	if c.Update != "" {
		r.Outcomes = kept
	}
	return r, faults, nil
}

// resumed returns what an earlier run has kept. A file that is not there yet keeps nothing.
func resumed(path string) (kept []programs.Outcome, err error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		_, err := os.Stat(filepath.Dir(path))
		return nil, err
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &kept); err != nil {
		return nil, fmt.Errorf("%s has no figures of this command: %w", path, err)
	}
	return kept, nil
}

func keep(path string, all []programs.Outcome) error {
	data, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	return outputs.WriteBytes(path, append(data, '\n'))
}

// step runs a step in a child, which ends its process when this one ends.
func step(ctx context.Context, s programs.Step) (e programs.Ending, err error) {
	err = child.Run(ctx, []string{"step"}, s, &e)
	return e, err
}

// stepCommand is the child.
type stepCommand struct{}

func (stepCommand) Run() error {
	return child.Serve(func(ctx context.Context, s programs.Step) (programs.Ending, error) { return s.Do(ctx) })
}
