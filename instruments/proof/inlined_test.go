package proof

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestBufferWritesAreInlined reads what the compiler that runs the tests says of a short
// function which builds a body: WriteString and WriteByte, with what they stand on, must be
// inlined, and the Buffer must stay on the stack. A new version of Go may weigh them
// otherwise, and nothing but the speed would show it.
func TestBufferWritesAreInlined(t *testing.T) {
	version, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		t.Skipf("there is no go command: %v", err)
	}
	if got := strings.TrimSpace(string(version)); got != runtime.Version() {
		t.Skipf("the go command is of %s, and these tests are of %s", got, runtime.Version())
	}
	readSources(t)
	said := strings.Split(toolchain(t, []string{"GOFLAGS=", "GOWORK=off"},
		"go", "build", "-C", "instruments/proof", "-gcflags=-m", "./testdata/inlined"), "\n")
	for what, times := range map[string]int{
		"inlining call to dewpond.(*BytePool).Buffer":    1,
		"inlining call to dewpond.(*Buffer).WriteString": 2,
		"inlining call to dewpond.appendString":          2,
		"inlining call to dewpond.(*Buffer).WriteByte":   1,
		"inlining call to dewpond.appendByte":            1,
		"&dewpond.Buffer{...} does not escape":           1,
	} {
		lines := slices.DeleteFunc(slices.Clone(said), func(line string) bool { return !strings.HasSuffix(line, what) })
		if len(lines) != times {
			t.Errorf("the compiler says %q %d times, want %d:\n%s", what, len(lines), times, strings.Join(said, "\n"))
		}
	}
}
