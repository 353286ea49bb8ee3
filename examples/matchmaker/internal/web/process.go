package web

import (
	"net/http"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
)

// A Processed is what POST /process decodes into: an object that is pooled.
type Processed struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
	Email    string `json:"email"`
}

// process decodes a user into a pooled object, and answers with a part of it. What the body does
// not have is empty, because a Pool clears what it takes back.
func (s *Site) process(w http.ResponseWriter, r *http.Request, t *service.Times) error {
	u := s.Processed.Get()
	defer s.Processed.Put(u)
	if err := s.decode(w, r, u); err != nil {
		return err
	}
	return s.sendJSON(w, t, struct {
		ID       int64  `json:"id"`
		Username string `json:"username"`
	}{u.ID, u.Username})
}
