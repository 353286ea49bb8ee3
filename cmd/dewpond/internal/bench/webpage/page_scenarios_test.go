package webpage

import (
	"os"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
)

// Each scenario has a page. DEWPOND_PAGE says where to leave it, for a look in a browser.
func TestPageOfEveryScenario(t *testing.T) {
	scenarios := synthetic.Scenarios()
	scenarios[bench.Touring] = synthetic.Tour()
	for name, d := range scenarios {
		t.Run(name, func(t *testing.T) {
			html := rendered(t, d)
			if tour := d.Scenario.Name == bench.Touring; tour != strings.Contains(html, "<li>For you if ") {
				t.Errorf("a tour: %v, and for whom dewpond is: %v", tour, !tour)
			}
			leave(t, name, html)
		})
	}
}

// leave writes the page where DEWPOND_PAGE says.
func leave(t *testing.T, name, html string) {
	path := os.Getenv("DEWPOND_PAGE")
	if path == "" {
		return
	}
	if err := os.WriteFile(path+"."+name+".html", []byte(html), 0o644); err != nil {
		t.Fatal(err)
	}
}
