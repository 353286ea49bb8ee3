package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/photo"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
)

// avatar answers with a user's photo.
func (s *Site) avatar(w http.ResponseWriter, r *http.Request, _ *service.Times) error {
	name, ok := strings.CutSuffix(r.PathValue("file"), "_480p.jpg")
	uid, err := strconv.ParseInt(name, 10, 64)
	if !ok || err != nil {
		return bad(http.StatusNotFound, "there is no such photo: ask as in /img/u/7_480p.jpg")
	}
	visitOf(w).of(uid)
	p, err := s.photoOf(r, uid)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", p.ETag)
	w.Header().Set("Cache-Control", "max-age=60")
	for tag := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == p.ETag || tag == "*" {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	send(w, "image/jpeg", p.JPEG)
	return nil
}

// photoOf is what the user has uploaded, or else has begun with.
func (s *Site) photoOf(r *http.Request, uid int64) (photo.Photo, error) {
	b, err := s.Uploads.Photos.Get(r.Context(), uid)
	if errors.Is(err, photo.ErrNotFound) {
		return s.Stock.Of(uid), nil
	}
	return photo.New(b), err
}
