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
	bad := filepath.Join(dir, "none", "x")
	for _, err := range []error{
		f.Open("--out", bad, text),
		WriteFile(bad, func(w io.Writer) error { return text(w, 42) }),
	} {
		if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), bad+":") || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("a path that cannot be written gives %v", err)
		}
	}
	if err := f.Open("--out", bad, text); !strings.HasPrefix(err.Error(), "--out: ") {
		t.Errorf("the error does not name the flag: %v", err)
	}
}

// A directory is made before anything is measured, and nothing is left in it by the look.
func TestDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	write := func(dir string, d int) error { return WriteBytes(filepath.Join(dir, "x"), fmt.Append(nil, d)) }
	var f Files[int]
	if err := errors.Join(f.OpenDir("--dir", dir, write), f.OpenDir("--dir", "", write)); err != nil {
		t.Fatal(err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) > 0 {
		t.Errorf("the folder has %v, %v", all, err)
	}
	if err := f.Write(42); err != nil || content(t, filepath.Join(dir, "x")) != "42" {
		t.Error(err)
	}
	err := f.OpenDir("--dir", filepath.Join(dir, "x"), write)
	if err == nil || !strings.HasPrefix(err.Error(), "--dir: ") {
		t.Errorf("a file for a directory gives %v", err)
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

// What may hold secrets is its owner's alone, and so is what replaces a file that all could read.
func TestPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no such permissions")
	}
	dir := t.TempDir()
	old := filepath.Join(dir, "old.json")
	if err := os.WriteFile(old, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f := Files[int]{Private: true}
	for _, name := range []string{old, filepath.Join(dir, "new.json")} {
		if err := f.Open("--json", name, text); err != nil {
			t.Fatal(err)
		}
	}
	single := filepath.Join(dir, "single.json")
	if err := errors.Join(f.Write(7), WritePrivate(single, func(w io.Writer) error { return text(w, 7) })); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{old, filepath.Join(dir, "new.json"), single} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 || plain(name) != "7" {
			t.Errorf("%s is %v with %q, %v", name, info.Mode(), plain(name), err)
		}
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

// A file that is written for long has its name when it is whole, and leaves nothing where it is not wanted.
func TestCreatePrivate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "requests.json")
	if err := os.WriteFile(path, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, keep := range []bool{false, true} {
		f, err := CreatePrivate(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, "new")
		if got := plain(path); got != "precious" {
			t.Errorf("while it is written the file has %q", got)
		}
		want, mode := "precious", os.FileMode(0o644)
		if keep {
			want, mode = "new", 0o600
			if err := f.Commit(); err != nil {
				t.Error(err)
			}
		}
		f.Discard()
		info, err := os.Stat(path)
		if got := content(t, path); err != nil || got != want || runtime.GOOS != "windows" && info.Mode().Perm() != mode {
			t.Errorf("keep %v: %q with permissions %v", keep, got, info.Mode())
		}
		if all, _ := os.ReadDir(dir); len(all) != 1 {
			t.Errorf("keep %v: the folder has %v", keep, all)
		}
	}
}
