package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version returns the version of this program as the Go command knows it: that of its module, or in
// a clone the commit.
func version() string {
	v := "of an unknown version"
	if info, ok := debug.ReadBuildInfo(); ok {
		v = info.Main.Version
		for _, s := range info.Settings {
			if v == "(devel)" && s.Key == "vcs.revision" {
				v = s.Value
			}
		}
	}
	return fmt.Sprintf("dewpond %s, %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
