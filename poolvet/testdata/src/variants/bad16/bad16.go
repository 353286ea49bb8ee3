// Package bad16 talks to a completion service.
package bad16

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

type choice struct {
	Index int    `json:"index"`
	Text  string `json:"text"`
}

type providerAnswer struct {
	ID      string   `json:"id"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
}

var answers = sync.Pool{New: func() any { return new(providerAnswer) }}

func acquireAnswer() *providerAnswer {
	a := answers.Get().(*providerAnswer)
	a.ID, a.Model = "", ""
	clear(a.Choices)
	a.Choices = a.Choices[:0]
	return a
}

// Completion is what callers get.
type Completion struct {
	ID, Model string
	Choices   []choice
	Provider  string
}

// Decode reads one answer of the provider.
func Decode(provider string, body io.Reader) (*Completion, error) {
	a := acquireAnswer()
	defer answers.Put(a)
	if err := json.NewDecoder(body).Decode(a); err != nil {
		return nil, fmt.Errorf("%s: %w", provider, err)
	}
	if len(a.Choices) == 0 {
		return nil, fmt.Errorf("%s: empty answer", provider)
	}
	return &Completion{ // want `\(returnput\)`
		ID:       a.ID,
		Model:    a.Model,
		Choices:  a.Choices,
		Provider: provider,
	}, nil
}
