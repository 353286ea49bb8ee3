package children

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const helloWorld = `package main

import "fmt"

func main() { fmt.Println("hello") }
`

const helloPool = `package main

import (
	"fmt"

	"github.com/dewpond/dewpond"
)

func main() {
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "hello"})
	b := p.Get(100)
	p.Put(b)
	p.Put(b) // which DEWPOND_CHECK=all reports
	fmt.Println("hello")
}
`

// A program with the library links no logger, profile, compressor or encoder for its sake. What
// it grows by is logged. DEWPOND_CHECK works all the same, on standard error.
func TestProgramLinksWhatItUses(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	build := func(name, program string) (binary string, size int64) {
		dir := filepath.Join(here, "testdata") // of this module, which requires the library
		binary = filepath.Join(t.TempDir(), name)
		overlay := filepath.Join(t.TempDir(), "overlay.json")
		file := filepath.Join(t.TempDir(), "main.go")
		write := func(name, text string) {
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		write(file, program)
		write(overlay, `{"Replace": {"`+filepath.Join(dir, name, "main.go")+`": "`+file+`"}}`)
		cmd := exec.Command("go", "build", "-overlay", overlay, "-ldflags=-s -w", "-o", binary, "./testdata/"+name)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		info, err := os.Stat(binary)
		if err != nil {
			t.Fatal(err)
		}
		return binary, info.Size()
	}
	_, without := build("world", helloWorld)
	binary, with := build("pool", helloPool)
	t.Logf("a hello world of %d KB grows by %d KB", without/1000, (with-without)/1000)

	deps, err := exec.Command("go", "list", "-deps", "github.com/dewpond/dewpond").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(deps)) {
		switch pkg := strings.TrimSpace(line); pkg {
		case "log", "log/slog", "encoding/json", "runtime/pprof", "compress/gzip", "text/tabwriter", "net", "net/http", "testing":
			t.Errorf("the library links %s", pkg)
		}
	}

	misuses := exec.Command(binary)
	misuses.Env = append(os.Environ(), "DEWPOND_CHECK=all")
	var stderr strings.Builder
	misuses.Stderr = &stderr
	if err := misuses.Run(); err != nil {
		t.Fatal(err)
	}
	if text := stderr.String(); !strings.HasPrefix(text, "dewpond: double Put: 128 bytes of pool \"hello\"\ngot at\n\tmain.main\n") || !strings.Contains(text, "dewpond/checks") {
		t.Errorf("standard error has\n%s", text)
	}
}
