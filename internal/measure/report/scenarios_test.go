package report

import (
	"bytes"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/internal/synthetic"
)

// Each scenario's text is as it was.
func TestEveryScenario(t *testing.T) {
	for name, d := range synthetic.Scenarios() {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Text(&out, d, 110); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", out.Bytes())
		})
	}
}

// What is withheld, and why, is said.
func TestTextSaysWhyThereIsNoVerdict(t *testing.T) {
	quick := synthetic.Mixed
	quick.Quick = true
	var out bytes.Buffer
	if err := Text(&out, synthetic.Document(quick, synthetic.Rounds(14, 6, 2000, synthetic.Pools[0], synthetic.Pools[3], synthetic.Pools[5])), 100); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(out.Bytes(), []byte("- No verdict: --quick")) {
		t.Errorf("the text does not say that there is no verdict:\n%s", &out)
	}
}
