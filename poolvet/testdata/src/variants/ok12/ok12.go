// Package ok12 talks to a completion service.
package ok12

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
)

type choice struct {
	Index int    `json:"index"`
	Text  string `json:"text"`
}

type answer struct {
	ID      string         `json:"id"`
	Choices []choice       `json:"choices"`
	Usage   map[string]int `json:"usage"`
}

func (a *answer) reset() {
	a.ID = ""
	clear(a.Choices)
	a.Choices = a.Choices[:0]
	clear(a.Usage)
}

func (a *answer) clone() *answer {
	c := *a
	c.Choices = slices.Clone(a.Choices)
	c.Usage = maps.Clone(a.Usage)
	return &c
}

var answers = sync.Pool{New: func() any { return new(answer) }}

// Completion is what callers get.
type Completion struct {
	*answer
	Provider string
}

// Decode reads one answer of the provider.
func Decode(provider string, body io.Reader) (*Completion, error) {
	a := answers.Get().(*answer)
	defer answers.Put(a)
	a.reset()
	if err := json.NewDecoder(body).Decode(a); err != nil {
		return nil, fmt.Errorf("%s: %w", provider, err)
	}
	return &Completion{answer: a.clone(), Provider: provider}, nil
}
