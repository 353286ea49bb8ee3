package web

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/intake"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/memory"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
)

// decode reads a request's body of JSON, which ends with the handler.
func (s *Site) decode(w http.ResponseWriter, r *http.Request, v any) error {
	if r.ContentLength > mostBody {
		return &http.MaxBytesError{Limit: mostBody}
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostBody)
	body, err := s.Memory.Body(r)
	if err != nil {
		return early(err)
	}
	visitOf(w).sent(len(body), body)
	err = json.Unmarshal(body, v)
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)
	switch {
	case err == nil:
		return nil
	case len(body) == 0 || errors.Is(err, io.ErrUnexpectedEOF):
		return bad(http.StatusBadRequest, "the body is no JSON: it is empty")
	case errors.As(err, &syntax):
		return bad(http.StatusBadRequest, "the body is no JSON: %v at offset %d", err, syntax.Offset)
	case errors.As(err, &kind):
		return bad(http.StatusBadRequest, "%s is a %s where a %v is wanted, at offset %d", kind.Field, kind.Value, kind.Type, kind.Offset)
	}
	return bad(http.StatusBadRequest, "the body is no JSON: %v", err)
}

// early is the error of a body that could not be read to its end.
func early(err error) error {
	if errors.As(err, new(*http.MaxBytesError)) || errors.As(err, new(*intake.SlowError)) {
		return err
	}
	return bad(http.StatusBadRequest, "the body ends early: %v", err)
}

// writeMatch writes a match as JSON.
func writeMatch(to memory.Buffer, m service.Match) {
	b := to.AvailableBuffer()
	b = append(b, `{"uid":`...)
	b = strconv.AppendInt(b, m.UID, 10)
	b = append(b, `,"region":`...)
	b = quote(b, m.Region)
	b = append(b, `,"candidates":[`...)
	to.Write(b)
	for i, c := range m.Candidates {
		to.Grow(160 + 6*len(c.Name))
		b := to.AvailableBuffer()
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"uid":`...)
		b = strconv.AppendInt(b, c.UID, 10)
		b = append(b, `,"name":`...)
		b = quote(b, c.Name)
		b = append(b, `,"age":`...)
		b = strconv.AppendInt(b, int64(c.Age), 10)
		b = append(b, `,"score":`...)
		b = strconv.AppendFloat(b, c.Score, 'f', -1, 64)
		b = append(b, `,"photo":"/img/u/`...)
		b = strconv.AppendInt(b, c.UID, 10)
		b = append(b, `_480p.jpg"}`...)
		to.Write(b)
	}
	b = append(to.AvailableBuffer(), `],"degraded":[`...)
	for i, feature := range m.Degraded {
		if i > 0 {
			b = append(b, ',')
		}
		b = quote(b, feature)
	}
	b = append(b, "]}\n"...)
	to.Write(b)
}

// quote appends a text as a JSON string.
func quote(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
