package main

import (
	"io"
	"net/http"

	"github.com/dewpond/dewpond"
)

// scoped answers from one Scope: the body, its orders and the answer end together.
type scoped struct{ pool *dewpond.BytePool }

func (h scoped) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, ok := bodyLength(w, r)
	if !ok {
		return
	}
	s := h.pool.Scope()
	defer s.Close()
	body := s.Get(n)
	if _, err := io.ReadFull(r.Body, body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	orders, err := appendOrders(dewpond.ScopeSlice[order](s, lines(body))[:0], body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	sortByValue(orders)
	answer := appendAnswer(s.Get(answerLength(orders))[:0], body, orders)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write(answer)
}

// plain does the same with make. It knows each size in advance, as scoped does, so the
// two differ only in where the memory comes from.
func plain(w http.ResponseWriter, r *http.Request) {
	n, ok := bodyLength(w, r)
	if !ok {
		return
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r.Body, body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	orders, err := appendOrders(make([]order, 0, lines(body)), body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	sortByValue(orders)
	answer := appendAnswer(make([]byte, 0, answerLength(orders)), body, orders)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write(answer)
}

// bodyLength returns the length of the body, or answers with an error if it is unknown
// or too large.
func bodyLength(w http.ResponseWriter, r *http.Request) (n int, ok bool) {
	const most = 1 << 20
	switch {
	case r.ContentLength < 0:
		http.Error(w, "the request must have a Content-Length", http.StatusLengthRequired)
		return 0, false
	case r.ContentLength > most:
		http.Error(w, "the body must be at most 1 MiB", http.StatusRequestEntityTooLarge)
		return 0, false
	}
	return int(r.ContentLength), true
}
