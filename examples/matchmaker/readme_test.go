package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "have README name the lines that have its code now")

// place matches a line of code that README names: its file twice, its number twice, what is there.
var place = regexp.MustCompile("\\[([^\\]]+\\.go):(\\d+)\\]\\(([^)#]+)#L(\\d+)\\) `([^`]+)`")

// Each place that README names by file and line has the code that README shows there.
func TestPlacesInREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	named := place.FindAllStringSubmatch(string(text), -1)
	if len(named) != 5 {
		t.Errorf("README names %d places, want 5", len(named))
	}
	for _, m := range named {
		file, line, code := m[1], m[2], m[5]
		source, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		var at []string
		for i, text := range strings.Split(string(source), "\n") {
			if strings.TrimSpace(text) == code {
				at = append(at, strconv.Itoa(i+1))
			}
		}
		if *update && len(at) == 1 {
			text = []byte(strings.Replace(string(text), m[0], fmt.Sprintf("[%[1]s:%[2]s](%[1]s#L%[2]s) `%[3]s`", file, at[0], code), 1))
			continue
		}
		if m[3] != file || m[4] != line || len(at) != 1 || at[0] != line {
			t.Errorf("%s: %s is in the lines %v; go test -run Places -update writes the line, if it is one", m[0], code, at)
		}
	}
	if *update {
		if err := os.WriteFile("README.md", text, 0o644); err != nil {
			t.Error(err)
		}
	}
}

// walked matches README's commands: a method, a body, an address on 8080 or 8082.
var walked = regexp.MustCompile(`^curl(?: -X (\S+))?(?: -d '([^']*)')?(?: -o \S+)? '?localhost:(8080|8082)([^' ]*)'?$`)

// The walk through README's curl lines gives what README shows.
func TestREADME(t *testing.T) {
	startsProcesses(t)
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, walk, _ := strings.Cut(string(text), "```\n$ curl")
	walk, _, _ = strings.Cut("curl"+walk, "```")
	r := begin(t)
	steps := strings.Split(walk, "\n$ ")
	for _, step := range steps {
		command, want, _ := strings.Cut(step, "\n")
		m := walked.FindStringSubmatch(command)
		if m == nil {
			t.Fatalf("%s is no command that this test knows", command)
		}
		method, at := m[1], r.HTTP
		switch {
		case method == "" && m[2] != "":
			method = "POST"
		case method == "":
			method = "GET"
		}
		if m[3] == "8082" {
			at = r.Admin
		}
		a, got := r.do(t, method, "http://"+at+m[4], m[2])
		if a.StatusCode != 200 {
			t.Errorf("%s answers %d: %s", command, a.StatusCode, got)
		}
		if strings.HasSuffix(m[4], ".jpg") { // it goes to a file
			continue
		}
		parts := strings.Split(strings.TrimSpace(want), "...")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		if !regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `\n*$`).MatchString(got) {
			t.Errorf("%s answers\n%s\nREADME shows\n%s", command, got, want)
		}
	}
	if len(steps) != 5 || slices.Contains(steps, "") {
		t.Errorf("README has %d commands, want 5", len(steps))
	}
}
