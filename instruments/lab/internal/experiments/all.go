// Package experiments has the experiments of the lab, each in a file of its own.
package experiments

import (
	"fmt"
	"strings"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// All returns the experiments in the order in which they run.
func All() []experiment.Experiment {
	return []experiment.Experiment{
		misused,
		bufferCap,
		hitRate,
		reuseCurve,
		privateShared,
		padding,
		capacity,
		tradePool,
		gogc,
		gcWindow,
		httpClient,
		gcIncident,
		matchContexts,
		latencyModel,
		retention,
		unbounded,
		jsonUser,
		drivers,
		containers,
		bufferSizes,
		attribution,
		protobufPareto,
		frameworks,
		goNext,
		symbols,
	}
}

// Find returns the experiments of those names; "all" is every one. An error names those that there
// are.
func Find(ids []string) ([]experiment.Experiment, error) {
	known := map[string]experiment.Experiment{}
	var names []string
	for _, e := range All() {
		known[e.ID] = e
		names = append(names, e.ID)
	}
	var found []experiment.Experiment
	seen := map[string]bool{}
	for _, id := range ids {
		if id == "all" {
			return All(), nil
		}
		e, ok := known[id]
		if !ok {
			return nil, fmt.Errorf("unknown experiment %q: there are all, %s", id, strings.Join(names, ", "))
		}
		if !seen[id] {
			found = append(found, e)
		}
		seen[id] = true
	}
	return found, nil
}
