// Package upstream asks the scorer, a service of its own, how well candidates fit.
package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/matching"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/memory"
)

// A Question is what the scorer gets.
type Question struct {
	User       matching.Person   `json:"user"`
	Candidates []matching.Person `json:"candidates"`
}

// An Answer has a score for each candidate, in their order.
type Answer struct {
	Scores []float64 `json:"scores"`
}

// Transport is one that keeps as many connections as it may need: http.DefaultTransport keeps two
// a host, and dials anew for what is above.
func Transport() *http.Transport {
	return &http.Transport{MaxIdleConns: 200, MaxIdleConnsPerHost: 200, IdleConnTimeout: 90 * time.Second}
}

// A Scorer is a client of the scorer.
type Scorer struct {
	URL    string
	Client *http.Client
	Memory memory.Source // of questions and answers
	// Requests and Dials count; their quotient is the new connections for each request.
	Requests, Dials atomic.Uint64
}

// mostAnswer bounds what is read of an answer.
const mostAnswer = 64 << 10

// Score asks for the scores of the candidates, and puts them in scores, which is as long.
func (s *Scorer) Score(ctx context.Context, q Question, scores []float64) error {
	body := s.Memory.Buffer()
	defer body.Release()
	if err := json.NewEncoder(body).Encode(q); err != nil {
		return err
	}
	payload := s.Memory.Payload(body)
	defer payload.Close()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		s.Requests.Add(1)
		if !i.Reused {
			s.Dials.Add(1)
		}
	}})
	r, err := payload.NewRequest(ctx, http.MethodPost, s.URL)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := s.Client.Do(r)
	if err != nil {
		return fmt.Errorf("the scorer: %w", err)
	}
	defer res.Body.Close()
	text := s.Memory.Buffer()
	defer text.Release()
	if _, err := text.ReadFrom(io.LimitReader(res.Body, mostAnswer)); err != nil {
		return fmt.Errorf("the scorer's answer: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the scorer answers %s", res.Status)
	}
	a := Answer{Scores: scores[:0]}
	if err := json.Unmarshal(text.Bytes(), &a); err != nil {
		return fmt.Errorf("the scorer's answer: %w", err)
	}
	if len(a.Scores) != len(scores) {
		return fmt.Errorf("the scorer answers with %d scores for %d candidates", len(a.Scores), len(scores))
	}
	copy(scores, a.Scores)
	return nil
}
