// Command release releases every module of a repository of many, and rehearses
// it first. See its -help.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const help = `Usage: release [-C dir] [-proxy dir] [-write] version

Releases the modules of this repository as one version, such as v0.1.0. By
itself it is a rehearsal: it works in a clone of HEAD, says what it would do, and
leaves this repository as it is.

    cd tools && GOWORK=off go run ./release v0.1.0
    cd tools && GOWORK=off go run ./release -proxy /tmp/proxy v0.1.0
    cd tools && GOWORK=off go run ./release -write v0.1.0

Why it takes a program: until a release, nested modules require each other at
v0.0.0 and replace each other by directories, so that a clone builds without a
network. Nobody can install a module that replaces another. So the tags of nested
modules lie on a commit of their own, in which each requires the others at the
real version, replaces none, and knows their checksums. The commit after it is
again as before. The root requires no other module: its tag lies on HEAD.

Released are the modules that go.work uses and somebody outside can reach: all
but those below internal/ that no released module requires. The order is the
root, then libraries, then commands, each after what it requires; push the tags
in this order, because whoever asks for a module asks for what it requires.

After -write nothing is pushed yet; the program says what to push. Until then
git tag -d and git reset undo it all.

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
	dir := flags.String("C", ".", "the repository that `dir` lies in")
	proxy := flags.String("proxy", "", "also put the modules into `dir`, for GOPROXY=file://dir: what an outsider will get")
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
