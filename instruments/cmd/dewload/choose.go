package main

import (
	"fmt"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/scales"
	"github.com/dewpond/dewpond/instruments/internal/toolchoice"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/load/command"
)

// chooseCommand says which tool to take.
type chooseCommand struct {
	toolchoice.Need
}

func (c *chooseCommand) Run() error {
	last, err := scales.Last()
	if err != nil {
		return err
	}
	var limits toolchoice.Limits
	if last != nil {
		limits = last.Limits
	}
	a, err := toolchoice.Choose(c.Need, limits)
	if err != nil {
		return command.UsageError{Err: err}
	}
	fmt.Printf("%s: %s\n", a.Tool, a.Reason)
	if a.Measured {
		fmt.Printf("dewload calibrate measured %s/s here on %s.\n", figure.Significant(a.Limit), last.Time.Format(time.DateOnly))
	} else {
		fmt.Println("The limits are not measured on this machine: dewload calibrate does it.")
	}
	return nil
}
