package command

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version returns the program's name and its version as the Go command knows it, that of its module or in a
// clone the commit, and the version of Go.
func Version(program string) string {
	v := "of an unknown version"
	if info, ok := debug.ReadBuildInfo(); ok {
		v = info.Main.Version
		for _, s := range info.Settings {
			if v == "(devel)" && s.Key == "vcs.revision" {
				v = s.Value
			}
		}
	}
	return fmt.Sprintf("%s %s, %s %s/%s", program, v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
