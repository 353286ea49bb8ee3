package main

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/kept"
)

func TestFlagsAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	now, err := kept.Flags("dewload")
	if err != nil {
		t.Fatal(err)
	}
	kept.Test(t, "testdata/kept/flags.txt", now, "../../../CHANGELOG.md")
}
