package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/instruments/kit/command"
)

// advised returns the error of arguments that cannot be parsed, with what to write in their place where
// that is known, and the command whose help tells more: nil if none is named.
func advised(wrong *kong.ParseError) (*kong.Node, error) {
	at, path := wrong.Context.Selected(), wrong.Context.Path
	rest := path[len(path)-1].Remainder() // from the argument that is wrong
	if at == nil || len(rest) == 0 {
		return at, wrong
	}
	bench := at
	if at.Name != "bench" {
		bench = at.Parent
	}
	name, value, joined := strings.Cut(rest[0], "=")
	switch {
	case bench.Name != "bench": // another command
	case name == "--scenario":
		if !joined && len(rest) > 1 {
			value = rest[1]
		}
		if value == "" || subcommand(bench, value) == nil {
			value = "micro"
		}
		return bench, fmt.Errorf("unknown flag --scenario: give the scenario as a word, as in dewpond bench %s", value)
	case at != bench && at != bench.DefaultCmd: // a scenario, of which the parser says what is wrong
	case !strings.HasPrefix(name, "-"):
		if subcommand(bench, name) == nil {
			return bench, fmt.Errorf("unknown scenario %q: valid are %s%s", name, strings.Join(scenarioNames(bench), ", "), meaning(name, scenarioNames(bench)))
		}
		return bench, fmt.Errorf("%s stands behind flags: name the scenario first, as in dewpond bench %[1]s --rounds 10", name)
	case hasFlag(bench.DefaultCmd, name):
		return bench.DefaultCmd, wrong
	default:
		if having := scenariosWith(bench, name); having != nil {
			return bench, fmt.Errorf("%s is a flag of %s: name the scenario first, as in dewpond bench %s %s", name, strings.Join(having, ", "), having[0], rest[0])
		}
		if all := flagNames(bench); command.Nearest(name, all) != "" && !strings.Contains(wrong.Error(), "did you mean") {
			return bench, fmt.Errorf("unknown flag %s%s", name, meaning(name, all))
		}
	}
	return at, wrong
}

// meaning returns the end of an error that names the nearest to a word, if there is one.
func meaning(word string, names []string) string {
	if nearest := command.Nearest(word, names); nearest != "" {
		return fmt.Sprintf(", did you mean %q?", nearest) // as kong says it of what it knows
	}
	return ""
}

// flagNames returns the flags of all scenarios.
func flagNames(bench *kong.Node) []string {
	var names []string
	for _, n := range bench.Children {
		for _, f := range n.Flags {
			names = append(names, "--"+f.Name)
		}
	}
	return names
}

// scenarioNames returns the names of what bench can run, besides the tour.
func scenarioNames(bench *kong.Node) []string {
	var names []string
	for _, n := range bench.Children {
		if n != bench.DefaultCmd {
			names = append(names, n.Name)
		}
	}
	return names
}

// scenariosWith returns the scenarios that have a flag.
func scenariosWith(bench *kong.Node, flag string) []string {
	var names []string
	for _, n := range bench.Children {
		if hasFlag(n, flag) {
			names = append(names, n.Name)
		}
	}
	return names
}

// hasFlag reports whether a command has a flag.
func hasFlag(of *kong.Node, flag string) bool {
	return slices.ContainsFunc(of.Flags, func(f *kong.Flag) bool { return "--"+f.Name == flag })
}

// helpFor says which help describes the arguments of a command. It is nil if none is named.
func helpFor(about *kong.Node) string {
	switch {
	case about == nil:
		return "dewpond --help lists the commands."
	case about.DefaultCmd != nil && about.Name != "bench": // whose flags they are where none is named
		return helpFor(about.DefaultCmd)
	case len(about.Children) > 0:
		return about.FullPath() + " --help lists the scenarios, each of which has its own flags."
	}
	return about.FullPath() + " --help lists the values of each flag."
}

// subcommand returns the subcommand with a name, or nil.
func subcommand(of *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(of.Children, func(n *kong.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return of.Children[i]
}
