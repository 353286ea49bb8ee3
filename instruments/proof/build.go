package proof

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// BuildExplorer compiles the explorer of the repository at root into dir, with some of its files
// and the engine's replaced.
func BuildExplorer(root, dir, tags string, replaced map[string]string) (program string, err error) {
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	file, err := filepath.Abs(filepath.Join(dir, "overlay.json"))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(filepath.Dir(file), "explore")
	c := exec.Command("go", "build", "-tags", tags, "-overlay", file, "-o", program, "./explore")
	c.Dir = filepath.Join(root, "instruments/proof")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", c, err, out)
	}
	return program, nil
}

// ReadExplored opens the files that the explorer is compiled from, so that go test's cache knows
// that a test depends on them.
func ReadExplored(root string) error {
	for _, pattern := range []string{"*.go", "internal/*/*.go", "instruments/proof/explore/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("no %s: %v", pattern, err)
		}
		for _, file := range files {
			if _, err := os.ReadFile(file); err != nil {
				return err
			}
		}
	}
	return nil
}
