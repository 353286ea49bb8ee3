package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Each load allocates what it is asked to, is collected, and leaves samples that have the numbers.
func TestLoads(t *testing.T) {
	for name := range loads {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			const bytes = 60e6
			r := run(name, bytes, 0, 1, dir)
			if r.Allocated < bytes || r.Collections < 1 || r.Peak < 4e6 {
				t.Errorf("%+v", r)
			}
			files, err := filepath.Glob(filepath.Join(dir, "settings-*.json"))
			if err != nil || len(files) != looks+1 {
				t.Errorf("%d samples, %v", len(files), err)
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				var values map[string]any
				if err := json.Unmarshal(text, &values); err != nil || values["/gc/heap/live:bytes"] == nil || values["time"] == nil {
					t.Errorf("%s: %v, %.200s", file, err, text)
				}
			}
		})
	}
}
