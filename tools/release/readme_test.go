package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A module outside of the clone that follows the README's section Install, line by line, builds
// and runs with the library and an adapter.
func TestReadmeInstall(t *testing.T) {
	clone, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(clone, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, install, _ := strings.Cut(string(readme), "\n## Install\n")
	install, _, _ = strings.Cut(install, "\n## ")
	mod := "module example.com/outsider\n\ngo 1.26.0\n"
	lines := 0
	for line := range strings.Lines(install) {
		if line, ok := strings.CutPrefix(line, "    replace "); ok {
			mod += "replace " + strings.Replace(line, "=> ../dewpond", "=> "+clone, 1)
			lines++
		}
	}
	if lines != 2 || !strings.Contains(install, "`go mod tidy`") {
		t.Fatalf("the README's section Install has %d lines with replace, want 2, and then go mod tidy:\n%s", lines, install)
	}
	o := &outsider{t: t, dir: t.TempDir(), env: []string{"GOWORK=off", "GOFLAGS=-mod=mod", "GOBIN=" + t.TempDir()}}
	o.write("go.mod", mod)
	o.write("main.go", `package main

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewprom"
)

func main() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "frames"})
	pool.Put(pool.Get(1500))
	prometheus.MustRegister(dewprom.NewCollector())
	metrics, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		panic(err)
	}
	for _, m := range metrics {
		fmt.Println(m)
	}
}
`)
	o.run("go", "mod", "tidy")
	if out := o.run("go", "run", "."); !strings.Contains(strings.ReplaceAll(out, " ", ""), `name:"pool"value:"frames"`) || !strings.Contains(out, "1536") {
		t.Errorf("the program prints %q", out)
	}
	if !strings.Contains(install, "`go install ./cmd/dewpond`") {
		t.Fatal("the README does not say how to install the command")
	}
	o.env = append(o.env, "GOWORK=", "GOFLAGS=") // the clone's go.work
	if out, err := o.try(clone, "go", "install", "./cmd/dewpond"); err != nil {
		t.Errorf("go install ./cmd/dewpond: %v\n%s", err, out)
	}
}
