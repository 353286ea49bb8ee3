package main

import (
	"fmt"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

// scenarios returns all scenarios, in the order of the help.
func scenarios() []workload.Scenario {
	return []workload.Scenario{workload.Micro, workload.Mixed, workload.Churn, workload.Burst, workload.Beyond, workload.Flood, workload.Misuse, workload.Window}
}

// findScenario returns the scenario with a name.
func findScenario(name string) (workload.Scenario, error) {
	var names []string
	for _, s := range scenarios() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return workload.Scenario{}, fmt.Errorf("unknown scenario %q: valid are %s", name, strings.Join(names, ", "))
}
