package child

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

const variable = "MATCHMAKER_CHILD_TEST"

// TestMain is the child too: it says what it was told, or nothing that is JSON, and waits.
func TestMain(m *testing.M) {
	text := os.Getenv(variable)
	if text == "" {
		os.Exit(m.Run())
	}
	var says string
	if err := json.Unmarshal([]byte(text), &says); err != nil {
		panic(err)
	}
	fmt.Println(says)
	io.Copy(io.Discard, os.Stdin)
}

func TestStart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	answer := 0
	p, err := Start(variable, "7", &answer)
	if err != nil || answer != 7 || p.PID() == os.Getpid() {
		t.Fatalf("%d, %v", answer, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Start(variable, "no number", &answer); err == nil || !strings.Contains(err.Error(), "invalid character") {
		t.Error(err)
	}
}
