package command_test

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/command"
)

var scenario = load.Scenario{
	Name:     "the front page",
	Target:   "http://127.0.0.1:8080",
	Arrivals: load.Arrivals{Rate: 100, Duration: 10 * time.Second},
	Session:  []load.Step{{Name: "page", Do: load.Request{URL: "/"}}},
}

// The whole of a command that runs one scenario.
func ExampleMain() {
	command.Main(scenario)
}

// A command with a flag of its own.
func ExampleFlags() {
	var flags struct {
		command.Flags
		Page string `default:"/" help:"What is asked for."`
	}
	kong.Parse(&flags, kong.Description(command.ExitCodes))
	scenario.Session[0].Do = load.Request{URL: flags.Page}
	err := flags.Run(scenario)
	if errors.Is(err, command.ErrAborted) || errors.Is(err, command.ErrAllFailed) {
		fmt.Println("It is down.")
	}
	os.Exit(command.Exit(err))
}
