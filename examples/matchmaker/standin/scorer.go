package standin

import (
	"encoding/json"
	"net"
	"net/http"
	"time"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/matching"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/upstream"
)

// A Scorer is the HTTP service that scores candidates. There is no real one.
type Scorer struct {
	server   http.Server
	listener net.Listener
	ended    chan error
}

// NewScorer starts one on a free port of 127.0.0.1.
func NewScorer() (*Scorer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Scorer{listener: l, ended: make(chan error, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /score", score)
	s.server = http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { s.ended <- s.server.Serve(l) }()
	return s, nil
}

// URL is where it answers.
func (s *Scorer) URL() string { return "http://" + s.listener.Addr().String() + "/score" }

// Close ends it.
func (s *Scorer) Close() {
	s.server.Close()
	<-s.ended
}

func score(w http.ResponseWriter, r *http.Request) {
	var q upstream.Question
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a := upstream.Answer{Scores: make([]float64, len(q.Candidates))}
	for i, c := range q.Candidates {
		a.Scores[i] = matching.Score(q.User.Interests, c.Interests, q.User.Age, c.Age)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(a)
}
