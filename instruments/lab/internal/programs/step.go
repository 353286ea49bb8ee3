package programs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Step is a process that a child of the lab starts, so that it ends with the lab, however that ends.
type Step struct {
	Dir  string
	Args []string
	Env  []string
}

// An Ending is what the process of a [Step] has said. Its output is not kept.
type Ending struct {
	Failed   bool     `json:"failed"`
	Said     string   `json:"said"`     // the end of the output of a process that failed, if it may be shown
	Passed   int      `json:"passed"`   // tests and subtests
	Failures []string `json:"failures"` // tests without subtests
	Reports  int      `json:"reports"`  // of checked mode
	Load     *figures `json:"load"`     // of a load
	Module   string   `json:"module"`   // the directory of one that was downloaded
}

// figures are what a load prints.
type figures struct {
	Ops     uint64             `json:"ops"`
	Seconds float64            `json:"seconds"`
	Figures map[string]float64 `json:"figures"`
}

var (
	tested = regexp.MustCompile(`(?m)^( *)--- (PASS|FAIL): (\S+)`)
	// A report begins so, where a line of a test may stand before it.
	reported = regexp.MustCompile(`dewpond: [^\n]* (?:of|to) pool "`)
	loaded   = regexp.MustCompile(`(?m)^DEWPOND_LOAD (.*)$`)
)

// checked is in the environment of a step whose pools are watched.
const checked = "DEWPOND_CHECK=all"

// Do is the child: it runs the process, and kills it when ctx ends. An error is one of ours.
func (s Step) Do(ctx context.Context) (Ending, error) {
	var e Ending
	cmd := exec.CommandContext(ctx, s.Args[0], s.Args[1:]...)
	cmd.Dir = s.Dir
	// The environment may have flags of its own: .ci/nightly's step guarded has an overlay.
	flags := strings.TrimSpace(os.Getenv("GOFLAGS") + " -mod=mod -buildvcs=false")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS="+flags, "DEWPOND_CHECK=off")
	cmd.Env = append(cmd.Env, s.Env...)
	inGroup(cmd)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		e.Failed = true
	} else if err != nil {
		return e, err
	}
	if ctx.Err() != nil {
		return e, context.Cause(ctx)
	}
	e.read(out)
	if slices.Contains(s.Args, "-json") {
		var module struct{ Dir string }
		if begin := bytes.IndexByte(out, '{'); begin >= 0 && json.NewDecoder(bytes.NewReader(out[begin:])).Decode(&module) == nil {
			e.Module = module.Dir
		}
	}
	// What checked mode says of a program is nobody's to see yet.
	if slices.Contains(s.Env, checked) {
		for i := range e.Failures {
			e.Failures[i] = Withheld
		}
	} else if e.Failed {
		e.Said = string(out[max(0, len(out)-2000):])
	}
	return e, nil
}

func (e *Ending) read(out []byte) {
	for _, m := range tested.FindAllSubmatch(out, -1) {
		switch {
		case string(m[2]) == "PASS":
			e.Passed++
		case len(m[1]) == 0:
			e.Failures = append(e.Failures, string(m[3]))
		}
	}
	e.Reports = len(reported.FindAll(out, -1))
	if m := loaded.FindSubmatch(out); m != nil {
		if json.Unmarshal(m[1], &e.Load) != nil {
			e.Load = nil
		}
	}
}

// must returns an error if the process failed.
func (e Ending) must(what string) error {
	if !e.Failed {
		return nil
	}
	return fmt.Errorf("%s: %s", what, strings.TrimSpace(e.Said))
}
