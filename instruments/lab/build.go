package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// build makes the other builds of the lab that the chosen experiments want. A build that fails
// leaves its case without figures. remove deletes them all.
func (l *laboratory) build(ctx context.Context) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "dewpond-lab-builds-")
	if err != nil {
		return nil, err
	}
	made := map[string]string{} // by what they are built with
	for _, e := range l.chosen {
		for name, b := range e.Builds {
			goCommand, env := "go", b.Env
			if b.Go != nil {
				command, more, err := b.Go(ctx)
				if err != nil {
					l.failures[e.ID+" "+name]++ // not to be tried at all
					l.fail(e.ID, name, err)
					continue
				}
				goCommand, env = command, slices.Concat(b.Env, more)
			}
			key := goCommand + " " + strings.Join(env, " ")
			exe, ok := made[key]
			if !ok {
				exe = filepath.Join(dir, fmt.Sprintf("lab%d.exe", len(made)))
				fmt.Fprintf(os.Stderr, "lab: building for %s, case %s\n", e.ID, name)
				cmd := exec.CommandContext(ctx, goCommand, "build", "-o", exe, "github.com/dewpond/dewpond/instruments/lab")
				cmd.Env = append(os.Environ(), env...)
				if out, err := cmd.CombinedOutput(); err != nil {
					l.failures[e.ID+" "+name]++ // not to be tried at all
					l.fail(e.ID, name, fmt.Errorf("%s build failed, run lab inside the repository: %w: %.300s", goCommand, err, out))
					continue
				}
				made[key] = exe
			}
			if l.programs[e.ID] == nil {
				l.programs[e.ID] = map[string]string{}
			}
			l.programs[e.ID][name] = exe
		}
	}
	return func() { os.RemoveAll(dir) }, nil
}
