package gclplugin

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"
)

func TestRegistered(t *testing.T) {
	make, err := register.GetPlugin("poolvet")
	if err != nil {
		t.Fatal(err)
	}
	p, err := make(nil)
	if err != nil {
		t.Fatal(err)
	}
	checks, err := p.BuildAnalyzers()
	if err != nil || len(checks) == 0 || p.GetLoadMode() != register.LoadModeTypesInfo {
		t.Errorf("%d checks, load mode %s, error %v", len(checks), p.GetLoadMode(), err)
	}
	if _, err := make(map[string]any{"nonsense": 1}); err == nil {
		t.Error("a setting that does not exist is accepted")
	}
}
