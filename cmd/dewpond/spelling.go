package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// respell puts the scenario first in the arguments of bench, where the parser expects it. In
// args it may stand behind flags, be a flag, or be missing:
//
//	bench                     bench tour
//	bench --goroutines 8      bench mixed --goroutines 8: the tour has no such flag
//	bench --quick micro       bench micro --quick
//	bench --scenario micro    bench micro
//
// A request for help without a scenario stays as it is. With an error, respell returns the
// arguments up to which they are valid.
func respell(args []string, model *kong.Application) ([]string, error) {
	if len(args) == 0 || args[0] != "bench" {
		return args, nil
	}
	bench := sub(model.Node, "bench")
	var word, flag, help string // the scenario as a word and as a flag; the argument that asks for help
	var rest []string
	foreign := false // whether the tour lacks one of the flags
	for i := 1; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		takes := !joined && takesValue(bench, name) && i+1 < len(args)
		switch {
		case name == "--scenario" && joined:
			flag = value
		case name == "--scenario" && i+1 < len(args):
			i++
			flag = args[i]
		case name == "--scenario":
			return args[:1], errors.New("--scenario: give the name of a scenario, or leave the flag out")
		case !strings.HasPrefix(name, "-") && word == "":
			word = args[i]
		case name == "--help" || name == "-h":
			help = name
			rest = append(rest, args[i])
		case strings.HasPrefix(name, "-") && !known(model, bench, name):
			return []string{"bench", "mixed", args[i]}, nil // of which the parser says what is meant
		default:
			foreign = foreign || !hasFlag(sub(bench, "tour"), name)
			rest = append(rest, args[i])
			if takes {
				i++
				rest = append(rest, args[i])
			}
		}
	}
	switch {
	case word != "" && flag != "" && word != flag:
		return args[:1], fmt.Errorf("scenario %q and --scenario %q: give only one of them", word, flag)
	case word+flag == "" && help != "":
		return args, nil
	case word == "":
		word = flag
	}
	switch {
	case word == "" && foreign:
		word = "mixed"
	case word == "":
		word = "tour"
	}
	if word != "tour" {
		if _, err := findScenario(word); err != nil {
			return args[:1], err
		}
	}
	return append([]string{"bench", word}, rest...), nil
}

// sub returns the subcommand with a name, or nil.
func sub(of *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(of.Children, func(n *kong.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return of.Children[i]
}

// hasFlag reports whether a command has a flag.
func hasFlag(command *kong.Node, name string) bool {
	return slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return "--"+f.Name == name })
}

// known reports whether any command that bench may be has a flag.
func known(model *kong.Application, bench *kong.Node, name string) bool {
	return hasFlag(model.Node, name) || hasFlag(bench, name) ||
		slices.ContainsFunc(bench.Children, func(scenario *kong.Node) bool { return hasFlag(scenario, name) })
}

// takesValue reports whether a flag of any scenario has its value in the next argument.
func takesValue(bench *kong.Node, name string) bool {
	return slices.ContainsFunc(bench.Children, func(scenario *kong.Node) bool {
		return slices.ContainsFunc(scenario.Flags, func(f *kong.Flag) bool { return "--"+f.Name == name && !f.IsBool() })
	})
}
