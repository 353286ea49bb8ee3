package driver

import (
	"cmp"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
)

// An edit replaces bytes start to end of a file.
type edit struct {
	start, end int
	text       string
}

// fix applies the first fix of each finding that has one, and returns the findings that are
// left: those without a fix, and those whose fix overlaps with one that was applied.
func fix(found []Finding) (left []Finding, err error) {
	files := map[string][]edit{}
	for _, f := range found {
		name := f.Position.Filename
		edits, ok := editsOf(f)
		if !ok || overlap(files[name], edits) {
			left = append(left, f)
			continue
		}
		for _, e := range edits {
			if !slices.Contains(files[name], e) { // two fixes may want the same import
				files[name] = append(files[name], e)
			}
		}
	}
	for name, edits := range files {
		if err := rewrite(name, edits); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// editsOf is what a finding's fix changes in the finding's own file.
func editsOf(f Finding) (edits []edit, ok bool) {
	if len(f.Diagnostic.SuggestedFixes) == 0 {
		return nil, false
	}
	for _, e := range f.Diagnostic.SuggestedFixes[0].TextEdits {
		if !e.End.IsValid() {
			e.End = e.Pos
		}
		from, to := f.fset.Position(e.Pos), f.fset.Position(e.End)
		if from.Filename != f.Position.Filename || to.Filename != f.Position.Filename {
			return nil, false
		}
		edits = append(edits, edit{from.Offset, to.Offset, string(e.NewText)})
	}
	return edits, true
}

func overlap(have, more []edit) bool {
	for _, h := range have {
		for _, m := range more {
			if h != m && (h.start < m.end && m.start < h.end || h.start == m.start) {
				return true
			}
		}
	}
	return false
}

// rewrite applies edits to a file, formats it, and puts it in the place of the old one.
func rewrite(name string, edits []edit) error {
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	slices.SortFunc(edits, func(x, y edit) int { return cmp.Compare(y.start, x.start) })
	text := old
	for _, e := range edits {
		if e.end > len(text) {
			return fmt.Errorf("%s has changed since it was read", name)
		}
		text = slices.Concat(text[:e.start], []byte(e.text), text[e.end:])
	}
	if text, err = format.Source(text); err != nil {
		return fmt.Errorf("%s: a fix does not parse: %w", name, err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Chmod(info.Mode().Perm())
	}
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}
