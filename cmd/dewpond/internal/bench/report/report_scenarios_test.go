package report

import (
	"bytes"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// The text of each scenario is that of its golden file.
func TestEveryScenario(t *testing.T) {
	for name, d := range synthetic.Scenarios() {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Text(&out, d, terminal.Style{Width: 110}); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", out.Bytes())
		})
	}
}

// The text says that there is no verdict, and why.
func TestTextSaysWhyThereIsNoVerdict(t *testing.T) {
	quick := synthetic.Mixed
	quick.Quick = true
	var out bytes.Buffer
	if err := Text(&out, synthetic.Document(quick, synthetic.Rounds(14, 6, 2000, synthetic.Pools[0], synthetic.Pools[3], synthetic.Pools[5])), terminal.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(out.Bytes(), []byte("- No verdict: --quick")) {
		t.Errorf("the text does not say that there is no verdict:\n%s", &out)
	}
}
