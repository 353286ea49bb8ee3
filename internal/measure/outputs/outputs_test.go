package outputs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func text(w io.Writer, d int) error {
	_, err := fmt.Fprint(w, d)
	return err
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	if err := os.WriteFile(old, []byte("an old result"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, write := range []bool{false, true} {
		var f Files[int]
		for _, path := range []string{old, fresh, ""} {
			if err := f.Open("--out", path, text); err != nil {
				t.Fatal(err)
			}
		}
		if write {
			if err := f.Write(42); err != nil {
				t.Fatal(err)
			}
		}
		f.Close()
		got, _ := os.ReadFile(old)
		_, err := os.Stat(fresh)
		if want := map[bool]string{false: "an old result", true: "42"}[write]; string(got) != want || (err == nil) != write {
			t.Errorf("written %v: the old file has %q, the new one: %v", write, got, err)
		}
	}
	var f Files[int]
	if err := f.Open("--out", filepath.Join(dir, "none", "x"), text); err == nil || !strings.HasPrefix(err.Error(), "--out: ") {
		t.Errorf("a path that cannot be written gives %v", err)
	}
}
