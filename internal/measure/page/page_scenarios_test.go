package page

import (
	"os"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/internal/synthetic"
)

// Each scenario has a page. DEWPOND_PAGE says where to leave it, for a look in a browser.
func TestPageOfEveryScenario(t *testing.T) {
	for name, d := range synthetic.Scenarios() {
		t.Run(name, func(t *testing.T) {
			leave(t, name, rendered(t, d))
		})
	}
}

// leave writes the page where DEWPOND_PAGE says.
func leave(t *testing.T, name, page string) {
	path := os.Getenv("DEWPOND_PAGE")
	if path == "" {
		return
	}
	if err := os.WriteFile(path+"."+name+".html", []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}
