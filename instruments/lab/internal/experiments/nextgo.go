package experiments

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// nextToolchain is what the go command is asked for where no newer Go is installed. It gets it
// from the module proxy, as it gets a toolchain that a go.mod names.
const nextToolchain = "go1.27.4"

// nextGo returns a go command of version 1.27: that of DEWPOND_LAB_GO127, or one that is
// installed beside this one, or this one with GOTOOLCHAIN set.
func nextGo(ctx context.Context) (command string, env []string, err error) {
	if named := os.Getenv("DEWPOND_LAB_GO127"); named != "" {
		if err := isNext(ctx, named); err != nil {
			return "", nil, fmt.Errorf("DEWPOND_LAB_GO127: %w", err)
		}
		return named, nil, nil
	}
	candidates := []string{"go", "go1.27", nextToolchain, "gotip"}
	if home, err := os.UserHomeDir(); err == nil {
		found, _ := filepath.Glob(filepath.Join(home, "sdk", "go1.27*", "bin", "go"))
		candidates = append(candidates, found...)
	}
	for _, name := range candidates {
		if path, err := exec.LookPath(name); err == nil && isNext(ctx, path) == nil {
			return path, nil, nil
		}
	}
	chosen := "GOTOOLCHAIN=" + nextToolchain
	if err := isNext(ctx, "go", chosen); err != nil {
		return "", nil, fmt.Errorf("there is no Go 1.27 here: set DEWPOND_LAB_GO127 to its go command, or have the module proxy serve %s: %w", nextToolchain, err)
	}
	return "go", []string{chosen}, nil
}

// isNext returns nil if a go command is of version 1.27.
func isNext(ctx context.Context, command string, env ...string) error {
	cmd := exec.CommandContext(ctx, command, "env", "GOVERSION")
	cmd.Env = append(os.Environ(), env...)
	var says strings.Builder // that it downloads a toolchain, for one
	cmd.Stderr = &says
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s env GOVERSION: %w: %.200s", command, err, strings.TrimSpace(says.String()))
	}
	version := strings.TrimSpace(string(out))
	if version != "go1.27" && !strings.HasPrefix(version, "go1.27.") && !strings.HasPrefix(version, "go1.27rc") {
		return fmt.Errorf("%s is %s, want go1.27", command, version)
	}
	return nil
}
