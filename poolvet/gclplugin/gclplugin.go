// Package gclplugin has poolvet's checks as a module plugin of golangci-lint. Importing it
// registers the plugin "poolvet"; docs/poolvet.md has the .custom-gcl.yml that does.
package gclplugin

import (
	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/dewpond/dewpond/poolvet"
)

func init() { register.Plugin("poolvet", newPlugin) }

// settings are those of .golangci.yml.
type settings struct {
	Sync     bool `json:"sync"`     // missingput looks at sync.Pool too
	Needless bool `json:"needless"` // run needless
	Noreset  bool `json:"noreset"`  // run noreset
}

type plugin struct{ checks []*analysis.Analyzer }

func newPlugin(conf any) (register.LinterPlugin, error) {
	checks := poolvet.Analyzers()
	if conf == nil {
		return plugin{checks}, nil
	}
	s, err := register.DecodeSettings[settings](conf)
	if err != nil {
		return nil, err
	}
	for _, c := range checks {
		if f := c.Flags.Lookup("sync"); f != nil && s.Sync {
			if err := f.Value.Set("true"); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range poolvet.OnRequest() {
		if c.Name == "needless" && s.Needless || c.Name == "noreset" && s.Noreset {
			checks = append(checks, c)
		}
	}
	return plugin{checks}, nil
}

func (p plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) { return p.checks, nil }

func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
