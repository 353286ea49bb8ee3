package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// A repository is the root directory of a git working tree.
type repository string

// git runs a git command there and returns its output without the final newline.
func (r repository) git(args ...string) (string, error) {
	var out, problem bytes.Buffer
	cmd := exec.Command("git", args...)
	cmd.Dir = string(r)
	cmd.Stdout, cmd.Stderr = &out, &problem
	for _, variable := range os.Environ() {
		// A hook's GIT_DIR names another repository.
		if !strings.HasPrefix(variable, "GIT_DIR=") && !strings.HasPrefix(variable, "GIT_INDEX_FILE=") && !strings.HasPrefix(variable, "GIT_WORK_TREE=") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(problem.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

// clone makes a repository of a commit that shares this one's objects, in a new temporary
// directory. Its commits have the author of this repository.
func (r repository) clone(commit string) (repository, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return "", err
	}
	c := repository(dir)
	if _, err = r.git("clone", "--quiet", "--shared", "--no-checkout", string(r), dir); err == nil {
		_, err = c.git("checkout", "--quiet", "--detach", commit)
	}
	for _, name := range []string{"user.name", "user.email"} {
		if value, unset := r.git("config", name); unset == nil && err == nil {
			_, err = c.git("config", name, value)
		}
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	return c, nil
}
