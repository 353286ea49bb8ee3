package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
)

// completionScripts ask "dewpond complete" for what may follow the words before the cursor. Where
// it has nothing to say they complete the names of files.
var completionScripts = map[string]string{
	"bash": `_dewpond() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _dewpond dewpond
`,
	"zsh": `#compdef dewpond
_dewpond() {
  local -a found
  found=(${(f)"$(${words[1]} complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -- $found; else _files; fi
}
compdef _dewpond dewpond
`,
	"fish": `complete -c dewpond -a '(dewpond complete -- (commandline -opc)[2..] (commandline -ct))'
`,
}

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script.
func (c *completionCommand) Run() error {
	_, err := fmt.Print(completionScripts[c.Shell])
	return err
}

// Help says how to use the script.
func (c *completionCommand) Help() string {
	return `Examples:

    source <(dewpond completion bash)       in ~/.bashrc
    source <(dewpond completion zsh)        in ~/.zshrc, after compinit
    dewpond completion fish | source        in ~/.config/fish/config.fish
`
}

// completeCommand is what the script calls.
type completeCommand struct {
	Words []string `arg:"" optional:""`
}

// Run prints one candidate a line.
func (c *completeCommand) Run(ctx *kong.Context) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	for _, s := range complete(ctx.Model.Node, words[:len(words)-1], words[len(words)-1]) {
		fmt.Println(s)
	}
	return nil
}

// complete returns what the last word of the arguments may become, given those before it.
func complete(node *kong.Node, before []string, last string) []string {
	var waiting *kong.Flag // for its value
	for _, word := range before {
		switch next := subcommand(node, word); {
		case waiting != nil:
			waiting = nil
		case strings.HasPrefix(word, "-"):
			if f := flagOf(node, word); f != nil && !f.IsBool() {
				waiting = f
			}
		case next != nil:
			node = next
		}
	}
	var all []string
	switch {
	case waiting != nil:
		all = valuesOf(waiting.Name, last)
	case strings.HasPrefix(last, "-"):
		for _, n := range reach(node) {
			for _, f := range n.Flags {
				if !f.Hidden && !slices.Contains(all, "--"+f.Name) {
					all = append(all, "--"+f.Name)
				}
			}
		}
	default:
		for _, n := range node.Children {
			if !n.Hidden {
				all = append(all, n.Name)
			}
		}
		for _, arg := range node.Positional {
			all = append(all, arg.EnumSlice()...)
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, last) })
}

// reach returns the commands whose flags are valid behind a command: itself, and the one that runs
// where none is named.
func reach(node *kong.Node) []*kong.Node {
	out := []*kong.Node{node}
	if node.DefaultCmd != nil {
		out = append(out, node.DefaultCmd)
	}
	return out
}

// subcommand returns the subcommand with a name, or nil.
func subcommand(of *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(of.Children, func(n *kong.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return of.Children[i]
}

// flagOf finds a flag by its spelling.
func flagOf(node *kong.Node, word string) *kong.Flag {
	for _, n := range reach(node) {
		for _, f := range n.Flags {
			if "--"+f.Name == word {
				return f
			}
		}
	}
	return nil
}

// further returns what a list may become, of which each name stands there once at most.
func further(names []string, list string) []string {
	done := list[:strings.LastIndex(list, ",")+1]
	var out []string
	for _, name := range names {
		if !slices.Contains(strings.Split(done, ","), name) {
			out = append(out, done+name)
		}
	}
	return out
}

// valuesOf returns the values of a flag. Those of --contenders are a list, of which the last is
// completed.
func valuesOf(flag, last string) []string {
	switch flag {
	case "contenders":
		return further(contender.Names(), last)
	case "cells":
		return further(cellNames(cells()), last)
	case "hold":
		return []string{"none", "yield", "pass"}
	case "sort":
		return []string{"misses", "growth", "bytes"}
	case "mode":
		return []string{"closed", "open"}
	}
	return nil
}
