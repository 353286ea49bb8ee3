package top

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/prometheus"
)

// errNoPools means that a page is not about pools.
var errNoPools = errors.New("no metrics of dewpond")

// parse reads a page: the JSON of /debug/vars, or the text of Prometheus.
func parse(page []byte) (*Snapshot, error) {
	if bytes.HasPrefix(bytes.TrimSpace(page), []byte("{")) {
		return parseVars(page)
	}
	return parseText(string(page))
}

// parseVars reads what contrib/dewexpvar publishes, among other variables.
func parseVars(page []byte) (*Snapshot, error) {
	var vars struct {
		Dewpond *struct {
			Pools, Budgets map[string]map[string]any
			Pressure       float64 `json:"pressure_level"`
		} `json:"dewpond"`
	}
	switch err := json.Unmarshal(page, &vars); {
	case err != nil:
		return nil, fmt.Errorf("the JSON is not as contrib/dewexpvar writes it: %w", err)
	case vars.Dewpond == nil:
		return nil, errNoPools
	}
	s := newSnapshot()
	s.add("pressure_level", "", "", vars.Dewpond.Pressure)
	for _, group := range []map[string]map[string]any{vars.Dewpond.Pools, vars.Dewpond.Budgets} {
		for of, metrics := range group {
			for metric, v := range metrics {
				s.addNested(metric, of, "", v)
			}
		}
	}
	return s, nil
}

// addNested adds a number, or those of nested objects. The innermost key is the label: around
// it may be a class.
func (s *Snapshot) addNested(metric, of, label string, v any) {
	switch v := v.(type) {
	case float64:
		s.add(metric, of, label, v)
	case map[string]any:
		for key, below := range v {
			s.addNested(metric, of, key, below)
		}
	}
}

// parseText reads Prometheus's text format, of which it needs the lines that begin with
// dewpond_:
//
//	dewpond_gets_total{class="512",pool="frames",result="hit"} 99
func parseText(page string) (*Snapshot, error) {
	s, found := newSnapshot(), false
	for line := range strings.Lines(page) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "dewpond_")
		if !ok {
			continue
		}
		name, labels, v, err := prometheus.Line(line)
		if err != nil {
			return nil, fmt.Errorf("%q is not a line of Prometheus's text format", "dewpond_"+line)
		}
		found = true
		s.add(name, labels["pool"]+labels["budget"], labels["result"]+labels["state"]+labels["reason"], v)
	}
	if !found {
		return nil, errNoPools
	}
	return s, nil
}
