package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// An outsider has its own module and its own cache, and gets only what a module proxy serves.
type outsider struct {
	t    *testing.T
	dir  string   // its module
	bin  string   // where go install puts commands
	env  []string // what it adds to the environment
	path string   // of the root that it uses
}

// newOutsider begins a module. Modules of others come from the machine's module cache, or from its
// own proxy.
func newOutsider(t *testing.T, proxy, root string) *outsider {
	t.Helper()
	cache, err := filepath.Abs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := &outsider{t: t, dir: t.TempDir(), bin: t.TempDir(), path: root}
	o.env = []string{
		"GOWORK=off",
		"GOFLAGS=-mod=mod -trimpath -modcacherw", // trimpath: the compiled code does not depend on the place of the cache
		"GOPROXY=" + fileURL(proxy) + "," + fileURL(filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download")) + "," + goEnv(t, "GOPROXY"),
		"GONOSUMDB=" + root, "GONOSUMCHECK=" + root, // only the proxy has seen these versions
		"GOMODCACHE=" + cache,
		"GOBIN=" + o.bin,
	}
	o.write("go.mod", "module example.com/outsider\n\ngo 1.26.0\n")
	return o
}

func (o *outsider) write(name, text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o666); err != nil {
		o.t.Fatal(err)
	}
}

// try runs a command in the outsider's module, or in a directory below its cache.
func (o *outsider) try(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), o.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (o *outsider) run(name string, args ...string) string {
	o.t.Helper()
	out, err := o.try(o.dir, name, args...)
	if err != nil {
		o.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// imports makes the outsider's program import packages, and builds and runs it.
func (o *outsider) imports(version string, units []*unit) {
	o.t.Helper()
	get := []string{"get"}
	program := "package main\n\n"
	for _, u := range units {
		for _, p := range u.importable {
			program += "import _ \"" + p + "\"\n"
		}
		if len(u.importable) > 0 {
			get = append(get, u.path+"@"+version)
		}
	}
	o.write("main.go", program+"\nfunc main() { println(\"it runs\") }\n")
	o.run("go", get...)
	if out := o.run("go", "run", "."); !strings.Contains(out, "it runs") {
		o.t.Errorf("the outsider's program prints %q", out)
	}
}

// serves makes the outsider a service with the library and three adapters, which answers a request.
func (o *outsider) serves() {
	o.t.Helper()
	o.write("main.go", `package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewhttp"
	"github.com/dewpond/dewpond/contrib/dewprom"
	"github.com/dewpond/dewpond/contrib/dewslog"
)

func main() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "requests"})
	log := slog.New(dewslog.New(os.Stdout, pool, nil))
	prometheus.MustRegister(dewprom.NewCollector())
	handler := dewhttp.Middleware(dewhttp.Options{Pool: pool})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := dewhttp.ReadBody(r)
		if err != nil {
			panic(err)
		}
		log.Info("a request", "body", string(body))
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/", strings.NewReader("hello")))
	metrics, err := prometheus.DefaultGatherer.Gather()
	fmt.Println(len(metrics) > 0, err, pool.Stats().InUseBytes, "bytes in use")
}
`)
	out := o.run("go", "run", ".")
	for _, want := range []string{`"msg":"a request","body":"hello"`, "true <nil> 0 bytes in use"} {
		if !strings.Contains(out, want) {
			o.t.Errorf("the outsider's service prints %s\nwant %s", out, want)
		}
	}
}

// installs makes the outsider install a command, by path and version.
func (o *outsider) installs(command, version string) (binary string) {
	o.t.Helper()
	o.run("go", "install", command+"@"+version)
	return filepath.Join(o.bin, filepath.Base(command))
}

// checksumsHold checks that a released module's go.sum agrees with what the proxy serves about the
// repository's modules, and that go mod tidy would not change it.
func (o *outsider) checksumsHold(u *unit, version string) {
	o.t.Helper()
	dir := strings.TrimSpace(o.run("go", "list", "-m", "-f", "{{.Dir}}", u.path+"@"+version))
	if out, err := o.try(dir, "go", "mod", "tidy", "-diff"); err != nil {
		o.t.Errorf("%s is not tidy as released: %v\n%s", u.path, err, out)
	}
	if out, err := o.try(dir, "go", "list", "-mod=readonly", "-deps", "./..."); err != nil {
		o.t.Errorf("%s does not load as released: %v\n%s", u.path, err, out)
	}
}

func fileURL(dir string) string { return "file://" + filepath.ToSlash(dir) }

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
