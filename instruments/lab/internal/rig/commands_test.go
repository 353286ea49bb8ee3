package rig

import (
	"testing"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/instruments/kit/amount"
)

// A rate is given as everywhere else: with what it is a part of, or without.
func TestRates(t *testing.T) {
	var c Commands
	parser, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	for command, rate := range map[string]*amount.Rate{"pools": &c.Pools.Rate, "pressure": &c.Pressure.Rate, "soak": &c.Soak.Rate, "guard": &c.Guard.Rate} {
		for text, want := range map[string]amount.Rate{"50/s": 50, "0.5": 0.5} {
			if _, err := parser.Parse([]string{command, "--rate", text}); err != nil || *rate != want {
				t.Errorf("%s --rate %s: %v, %v", command, text, *rate, err)
			}
		}
	}
}
