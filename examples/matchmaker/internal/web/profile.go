package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

func (s *Site) user(w http.ResponseWriter, r *http.Request, t *service.Times) error {
	uid, err := uidOf(r.PathValue("uid"), "/api/v1/users/7")
	if err != nil {
		return err
	}
	visitOf(w).by(uid)
	u, err := s.Service.Profile(r.Context(), uid, t)
	if err != nil {
		return err
	}
	return s.sendJSON(w, t, u)
}

// putUser writes what the body has of a profile, and leaves the rest as it is.
func (s *Site) putUser(w http.ResponseWriter, r *http.Request, t *service.Times) error {
	uid, err := uidOf(r.PathValue("uid"), "/api/v1/users/7")
	if err != nil {
		return err
	}
	var q struct {
		Name      *string `json:"name"`
		Age       *int32  `json:"age"`
		Interests *int64  `json:"interests"`
		MinAge    *int32  `json:"min_age"`
		MaxAge    *int32  `json:"max_age"`
	}
	if err := s.decode(w, r, &q); err != nil {
		return err
	}
	visitOf(w).by(uid)
	u, err := s.Service.Profile(r.Context(), uid, t)
	if err != nil {
		return err
	}
	set(&u.Name, q.Name)
	set(&u.Age, q.Age)
	set(&u.Interests, q.Interests)
	set(&u.MinAge, q.MinAge)
	set(&u.MaxAge, q.MaxAge)
	if err := valid(u); err != nil {
		return err
	}
	if u, err = s.Service.PutProfile(r.Context(), u, t); err != nil {
		return err
	}
	return s.sendJSON(w, t, u)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func valid(u store.User) error {
	switch {
	case u.Name == "" || len(u.Name) > 100 || !utf8.ValidString(u.Name) || strings.ContainsFunc(u.Name, unicode.IsControl):
		return bad(http.StatusBadRequest, "name must be 1 to 100 bytes of text without control characters")
	case u.Age < 18 || u.Age > 120:
		return bad(http.StatusBadRequest, "age must be 18 to 120")
	case u.MinAge < 18 || u.MaxAge > 120 || u.MinAge > u.MaxAge:
		return bad(http.StatusBadRequest, "min_age must be 18 or more, and max_age at least min_age and at most 120")
	}
	return nil
}

func (s *Site) messages(w http.ResponseWriter, r *http.Request, t *service.Times) error {
	const example = "/api/v1/messages?uid=7&with=8"
	uid, err := uidOf(asked(r, "uid"), example)
	if err != nil {
		return err
	}
	with, err := uidOf(asked(r, "with"), example)
	if err != nil {
		return err
	}
	visitOf(w).by(uid)
	m, err := s.Service.Store.Messages(store.WithTimes(r.Context(), &t.Times), uid, with, 50)
	if err != nil {
		return err
	}
	if m == nil {
		m = []store.Message{}
	}
	return s.sendJSON(w, t, m)
}

// sendJSON answers with a value.
func (s *Site) sendJSON(w http.ResponseWriter, t *service.Times, v any) error {
	body := s.Memory.Buffer()
	defer body.Release()
	if err := json.NewEncoder(body).Encode(v); err != nil {
		return err
	}
	timing(w, t, 0)
	send(w, "application/json", body.Bytes())
	return nil
}
