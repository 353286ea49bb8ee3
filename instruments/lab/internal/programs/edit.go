package programs

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const dewpond = "github.com/dewpond/dewpond"

// An Edit changes the module in a directory. page is docs/migrating.md.
type Edit interface {
	apply(ctx context.Context, dir, page string) error
}

// A Rule replaces a text of a file, which has it so many times, by another.
type Rule struct {
	File, Old, New string
	Times          int
}

func (r Rule) apply(_ context.Context, dir, _ string) error {
	return rewrite(filepath.Join(dir, r.File), func(text string) (string, error) {
		if n := strings.Count(text, r.Old); n != r.Times {
			return "", fmt.Errorf("%s has %d times, and not %d: %s", r.File, n, r.Times, r.Old)
		}
		return strings.ReplaceAll(text, r.Old, r.New), nil
	})
}

// An Import adds a package to the imports of a file, which are in parentheses.
type Import struct{ File, Package string }

func (i Import) apply(ctx context.Context, dir, page string) error {
	const first = "\nimport (\n"
	return Rule{i.File, first, first + "\t\"" + i.Package + "\"\n", 1}.apply(ctx, dir, page)
}

// A PageDiff is the diff of a file that the page has behind the name of a module.
type PageDiff struct{ Name, File string }

func (d PageDiff) apply(ctx context.Context, dir, page string) error {
	hunks, err := d.hunks(page)
	if err != nil {
		return err
	}
	for _, h := range hunks {
		if err := (Rule{d.File, h[0], h[1], 1}).apply(ctx, dir, page); err != nil {
			return err
		}
	}
	return nil
}

// hunks returns what the file has, and what it has then, for each hunk of the diff.
func (d PageDiff) hunks(page string) ([][2]string, error) {
	_, rest, found := strings.Cut(page, "\n"+d.Name+", ")
	_, diff, has := strings.Cut(rest, fmt.Sprintf("```diff\n--- a/%s\n+++ b/%[1]s\n", d.File))
	if !found || !has {
		return nil, fmt.Errorf("the page has no diff of %s, %s", d.Name, d.File)
	}
	diff, _, _ = strings.Cut(diff, "```")
	var hunks [][2]string
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "@@ ") {
			hunks = append(hunks, [2]string{})
			continue
		} else if len(hunks) == 0 {
			return nil, fmt.Errorf("%s: %q is in no hunk", d.File, line)
		}
		h := &hunks[len(hunks)-1]
		switch line[0] {
		case '-':
			h[0] += line[1:]
		case '+':
			h[1] += line[1:]
		default:
			line = strings.TrimPrefix(line, " ") // an empty line may lack it
			h[0], h[1] = h[0]+line, h[1]+line
		}
	}
	return hunks, nil
}

// A Recipe makes every sync.Pool below a directory of the module a dewsync.Pool, by the commands that
// the page tells its reader to type.
type Recipe struct{ Dir string }

func (r Recipe) apply(ctx context.Context, dir, page string) error {
	there, _, err := recipes(page)
	if err != nil {
		return err
	}
	return shell(ctx, filepath.Join(dir, r.Dir), there)
}

// shell runs commands of the page.
func shell(ctx context.Context, dir, commands string) error {
	bash := exec.CommandContext(ctx, "bash", "-e", "-c", commands)
	bash.Dir = dir
	if out, err := bash.CombinedOutput(); err != nil {
		return fmt.Errorf("the recipe: %w: %s", err, out)
	}
	return nil
}

// recipes returns the first two blocks of commands in the page's section on dewsync: those that change a
// program, and those that change it back.
func recipes(page string) (there, back string, err error) {
	const heading = "\n## From sync.Pool, unchanged\n"
	_, section, _ := strings.Cut(page, heading)
	section, _, _ = strings.Cut(section, "\n## ")
	var blocks []string
	within := false
	for line := range strings.Lines(section) {
		command, ok := strings.CutPrefix(line, "    ")
		if ok && !within {
			blocks = append(blocks, "")
		}
		if within = ok; ok {
			blocks[len(blocks)-1] += command
		}
	}
	if len(blocks) < 2 || !strings.Contains(blocks[0], "dewsync.Pool") {
		return "", "", fmt.Errorf("docs/migrating.md has no commands there and back below %q", strings.TrimSpace(heading))
	}
	return blocks[0], blocks[1], nil
}

func rewrite(name string, edit func(string) (string, error)) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := edit(string(data))
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o666)
}

// Lines are those that the edits have added and removed in code that is no test.
type Lines struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// changed compares the Go files of two directories. A line that has moved is not changed.
func changed(before, after string) (Lines, error) {
	var n Lines
	err := filepath.WalkDir(after, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		relative, err := filepath.Rel(after, name)
		if err != nil {
			return err
		}
		was, err := os.ReadFile(filepath.Join(before, relative))
		if err != nil {
			return err
		}
		is, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		balance := map[string]int{}
		for line := range strings.Lines(string(is)) {
			balance[line]++
		}
		for line := range strings.Lines(string(was)) {
			balance[line]--
		}
		for _, more := range balance {
			n.Added += max(more, 0)
			n.Removed += max(-more, 0)
		}
		return nil
	})
	return n, err
}
