package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
