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
//	bench                     bench mixed
//	bench --quick micro       bench micro --quick
//	bench --scenario micro    bench micro
//
// A request for help without a scenario stays as it is. With an error, respell returns the
// arguments up to which they are valid.
func respell(args []string, model *kong.Application) ([]string, error) {
	if len(args) == 0 || args[0] != "bench" {
		return args, nil
	}
	var word, flag, help string // the scenario as a word and as a flag; the argument that asks for help
	var rest []string
	for i := 1; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		takes := !joined && takesValue(model, name) && i+1 < len(args)
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
		case takes:
			rest = append(rest, args[i], args[i+1])
			i++
		default:
			if name == "--help" || name == "-h" {
				help = name
			}
			rest = append(rest, args[i])
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
	if word == "" {
		word = scenarios()[0].Name
	}
	scenario, err := findScenario(word)
	if err != nil {
		return args[:1], err
	}
	return append([]string{"bench", scenario.Name}, rest...), nil
}

// takesValue reports whether a flag of any scenario has its value in the next argument.
func takesValue(model *kong.Application, name string) bool {
	for _, command := range model.Children {
		for _, scenario := range command.Children {
			if slices.ContainsFunc(scenario.Flags, func(f *kong.Flag) bool { return "--"+f.Name == name && !f.IsBool() }) {
				return true
			}
		}
	}
	return false
}
