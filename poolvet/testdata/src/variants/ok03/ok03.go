// Package ok03 answers with JSON.
package ok03

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
)

type bufs[T any] struct{ p sync.Pool }

func (b *bufs[T]) with(fn func(*T) error) error {
	v, ok := b.p.Get().(*T)
	if !ok {
		v = new(T)
	}
	defer b.p.Put(v)
	return fn(v)
}

var out bufs[bytes.Buffer]

// JSON answers with v, or with 500 when it cannot be encoded.
func JSON(w http.ResponseWriter, code int, v any) error {
	err := out.with(func(b *bytes.Buffer) error {
		b.Reset()
		if err := json.NewEncoder(b).Encode(v); err != nil {
			return err
		}
		body := bytes.TrimRight(b.Bytes(), "\n")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(code)
		_, err := w.Write(body)
		return err
	})
	if err != nil {
		http.Error(w, "encoding failed", http.StatusInternalServerError)
	}
	return err
}
