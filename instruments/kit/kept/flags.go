package kept

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	commandLine = regexp.MustCompile(`^  ([a-z][a-z-]*(?: [a-z][a-z-]*)*)(  | \[| <|$)`) // behind the program's name
	flagLine    = regexp.MustCompile(`^ {2,6}(?:(-\w), )?--(?:\[no-\])?([a-z][\w-]*)`)
)

// Flags returns the commands of a program and their flags, as its help lists them: "dewpond bench"
// and "dewpond bench --json". What help hides is nobody's.
func Flags(program string) ([]string, error) { return flags(program) }

func flags(program string, command ...string) ([]string, error) {
	name := strings.Join(append([]string{filepath.Base(program)}, command...), " ")
	help, err := exec.Command(program, append(command, "--help")...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s --help: %w", name, err)
	}
	out := []string{name}
	for line := range bytes.Lines(help) {
		text := strings.TrimRight(string(line), "\r\n")
		if m := flagLine.FindStringSubmatch(text); m != nil {
			out = append(out, name+" --"+m[2])
			if m[1] != "" {
				out = append(out, name+" "+m[1])
			}
		} else if m := commandLine.FindStringSubmatch(text); m != nil {
			below, err := flags(program, strings.Fields(m[1])...)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		}
	}
	return out, nil
}
