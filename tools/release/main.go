// Command release releases every module of a repository with several modules, and rehearses the
// release first. See its -help.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const help = `Usage: release [-C dir] [-proxy dir] [-write] version

Releases the modules of this repository as one version, such as v0.1.0. Without
-write it is a rehearsal: it works in a clone of HEAD, prints what it would do,
and leaves this repository as it is.

    cd tools && GOWORK=off go run ./release v0.1.0
    cd tools && GOWORK=off go run ./release -proxy /tmp/proxy v0.1.0
    cd tools && GOWORK=off go run ./release -write v0.1.0

Why this needs a program: until a release, nested modules require each other at
v0.0.0 and replace each other by directories, so that a clone builds without a
network. A module that replaces another cannot be installed. So the tags of
nested modules are on a separate commit, in which each requires the others at the
real version, replaces none, and has their checksums. The next commit restores
the go.mod files. The root requires no other module: its tag is on HEAD.

It releases the modules that go.work uses and that can be used from outside: all
but those below internal/ that no released module requires. The order is the
root, then libraries, then commands, each after what it requires. Push the tags
in this order, because a request for a module also asks for what it requires.

-write pushes nothing; it prints what to push. Until you push, git tag -d and git
reset undo everything.

Flags:
`

func main() {
	err := run(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		fmt.Fprint(out, help)
		flags.PrintDefaults()
	}
	dir := flags.String("C", ".", "use the repository that contains `dir`")
	proxy := flags.String("proxy", "", "also put the modules into `dir`, for GOPROXY=file://dir: what users will get")
	write := flags.Bool("write", false, "make the commits and tags in this repository, which must have no changes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("want one version, such as v0.1.0; -help says more")
	}
	p, err := newPlan(*dir, flags.Arg(0))
	if err != nil {
		return err
	}
	defer p.close()
	return p.run(out, *proxy, *write)
}
