package outputs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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

// content returns what a file has, and fails if anything else is in its folder.
func content(t *testing.T, path string) string {
	t.Helper()
	all, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(all) != 1 || all[0].Name() != filepath.Base(path) {
		t.Errorf("the folder has %v, %v", all, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// A report that fails half-way, as on a full disk, leaves the old file whole and nothing beside
// it, and so does one that was only announced.
func TestOldFileStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "result.json")
	if err := os.WriteFile(path, []byte("precious"), 0o640); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	var f Files[int]
	err := f.Open("--json", path, func(w io.Writer, d int) error {
		fmt.Fprint(w, "half of it")
		if got := plain(path); got != "precious" {
			t.Errorf("while it is written the file has %q", got)
		}
		return full
	})
	if err != nil || content(t, path) != "precious" {
		t.Errorf("after Open: %v", err)
	}
	if err := f.Write(1); !errors.Is(err, full) || !strings.Contains(err.Error(), path) || content(t, path) != "precious" {
		t.Errorf("the error is %v", err)
	}
	if err := WriteFile(path, func(w io.Writer) error { return text(w, 42) }); err != nil || content(t, path) != "42" {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("its permissions are %v now, %v", info.Mode(), err)
	}
}

func plain(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

// Of those that write one file at the same time one wins, and its report is whole.
func TestTwoReports(t *testing.T) {
	path := filepath.Join(t.TempDir(), "same.json")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				err := WriteFile(path, func(w io.Writer) error {
					for range 1000 {
						text(w, i)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := content(t, path); len(got) != 1000 || strings.Trim(got, got[:1]) != "" {
		t.Errorf("%d bytes: %.20s", len(got), got)
	}
}

// A link leads to the file that is replaced, and what is no file is written to.
func TestOddFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has neither links for everybody nor /dev/null")
	}
	target, link := filepath.Join(t.TempDir(), "target"), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.WriteFile(target, nil, 0o644), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, func(w io.Writer) error { return text(w, 7) }); err != nil || content(t, target) != "7" {
		t.Error(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v now, %v", info.Mode(), err)
	}
	var f Files[int]
	if err := f.Open("--json", os.DevNull, text); err != nil {
		t.Error(err)
	}
	if err := f.Write(1); err != nil {
		t.Error(err)
	}
	if err := f.Open("--json", t.TempDir(), text); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory gives %v", err)
	}
}
