package region

import (
	"fmt"
	"net"
	"slices"
	"strings"
)

// Nodes are the addresses of a region's Redis servers.
type Nodes struct {
	Name     string
	Primary  string
	Replicas []string
}

// form is how regions are written.
const form = "cn-east=HOST:PORT+REPLICA:PORT,us-west=HOST:PORT"

// Parse reads regions, the fallback first. An error says what is wrong, and the valid form.
func Parse(text string) ([]Nodes, error) {
	var regions []Nodes
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, addresses, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is no region: write %s", part, form)
		}
		if seen[name] {
			return nil, fmt.Errorf("region %s is there twice: write all its nodes in one, as in %s", name, form)
		}
		seen[name] = true
		nodes := strings.Split(addresses, "+")
		if nodes[0] == "" {
			return nil, fmt.Errorf("region %s has no primary: it comes first, as in %s", name, form)
		}
		for i, address := range nodes {
			if slices.Contains(nodes[:i], address) {
				return nil, fmt.Errorf("region %s has %s twice: write each node once, as in %s", name, address, form)
			}
			if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
				return nil, fmt.Errorf("region %s: %q is no HOST:PORT: write %s", name, address, form)
			}
		}
		regions = append(regions, Nodes{name, nodes[0], nodes[1:]})
	}
	return regions, nil
}
