package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiments"
)

var (
	articleCommand = regexp.MustCompile("`(go (?:run|test) [^`]+)`")
	labLink        = regexp.MustCompile(`\]\(results\.md#([\w-]+)\)`)
	localLink      = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
)

// articles.md has each system that the articles describe, and every command and link in it is there.
func TestArticles(t *testing.T) {
	data, err := os.ReadFile("articles.md")
	if err != nil {
		t.Fatal(err)
	}
	var counts []int
	var commands []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "## ") {
			counts = append(counts, 0)
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") || strings.HasPrefix(line, "| the article describes") {
			continue
		}
		counts[len(counts)-1]++
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 4 || !slices.Contains([]string{"all", "part"}, cells[2]) {
			t.Errorf("not four cells, of which the third says all or part: %s", line)
			continue
		}
		if !strings.Contains(cells[1], "`") && !strings.Contains(cells[1], "](") {
			t.Errorf("neither a command nor a file: %s", line)
		}
		links := labLink.FindAllStringSubmatch(cells[3], -1)
		if (len(links) == 0) != (cells[3] == "no figure") {
			t.Errorf("neither a figure of the lab nor “no figure”: %s", line)
		}
		for _, l := range links {
			if _, err := experiments.Find([]string{l[1]}); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		for _, l := range localLink.FindAllStringSubmatch(line, -1) {
			if _, err := os.Stat(l[1]); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		for _, c := range articleCommand.FindAllStringSubmatch(line, -1) {
			if !slices.Contains(commands, c[1]) {
				commands = append(commands, c[1])
			}
		}
	}
	if want := []int{27, 17, 11, 23, 2}; !slices.Equal(counts, want) {
		t.Errorf("the articles have %v lines, want %v", counts, want)
	}
	built := map[string]string{}
	for _, c := range commands {
		if err := exists(t, c, built); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
}

// exists says what lacks of a command. Of another program than the lab's it asks that program for its help.
func exists(t *testing.T, c string, built map[string]string) error {
	words := strings.Fields(c)
	if words[1] == "test" {
		return testExists(words[2:])
	}
	dir, args := words[2], words[3:]
	if dir == "./instruments/lab" {
		if len(args) > 0 {
			if _, err := experiments.Find(args); err == nil {
				return nil
			}
		}
		parsed, err := kong.Must(&commands{}, kong.Exit(func(int) {})).Parse(args)
		if err != nil {
			return err
		}
		if strings.HasPrefix(parsed.Command(), "run") {
			return errors.New("neither an experiment nor a command")
		}
		return nil
	}
	if _, err := os.Stat(filepath.Join("../..", dir, "main.go")); err != nil || testing.Short() {
		return err
	}
	if built[dir] == "" {
		exe := filepath.Join(t.TempDir(), "program.exe")
		build := exec.Command("go", "build", "-o", exe, dir)
		build.Dir = "../.."
		if out, err := build.CombinedOutput(); err != nil {
			return errors.New(string(out))
		}
		built[dir] = exe
	}
	if out, err := exec.Command(built[dir], append(args, "--help")...).CombinedOutput(); err != nil {
		return errors.New(string(out))
	}
	return nil
}

// testExists looks for a test that is meant.
func testExists(args []string) error {
	pattern, dir := "", args[len(args)-1]
	if i := slices.Index(args, "-run"); i >= 0 {
		pattern = args[i+1]
	}
	files, _ := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	meant := regexp.MustCompile(`(?m)^func (Test|Example)\w*` + strings.TrimPrefix(pattern, "Example"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if meant.Match(text) {
			return nil
		}
	}
	return errors.New("no such test")
}
