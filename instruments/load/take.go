package load

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// takes are the names that get values from an answer in JSON.
type takes map[string]pointer

// takes reads the pointers, and makes the names known to later steps.
func (c *compilation) takes(from map[string]string) (takes, error) {
	t := takes{}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		where := c.where + ".take." + name
		if !isName(name) {
			return nil, at(where, "%q is no name: give letters, digits, - and _", name)
		}
		var err error
		if t[name], err = parsePointer(from[name]); err != nil {
			return nil, at(where, "%v", err)
		}
		c.known[name] = true
	}
	return t, nil
}

// from gives the names values. What is not there is no error: Step.Retry may ask again, and a
// later step may go without.
func (t takes) from(c *Call, body []byte) error {
	var document any
	if err := json.Unmarshal(body, &document); err != nil {
		return &KindError{Unexpected, fmt.Errorf("the answer is no JSON: %w", err)}
	}
	for name, p := range t {
		v, ok := p.in(document)
		if !ok {
			c.absent = true
			v = nil
		}
		c.Set(name, v)
	}
	return nil
}
