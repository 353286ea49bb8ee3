package dewpond_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/dewpond/dewpond"
)

// What a request needs until it is answered ends with one Close.
func ExampleScope() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "requests"})
	defer pool.Close()

	s := pool.Scope()
	name := s.Copy([]byte("ada"))               // outlives where it came from
	greeting := append(s.Get(64)[:0], "hi "...) // an empty slice with room for 64 bytes
	greeting = append(greeting, name...)
	counts := dewpond.ScopeSlice[int32](s, 26)
	for _, c := range name {
		counts[c-'a']++
	}
	fmt.Printf("%s, %d a\n", greeting, counts[0])

	s.Close() // name, greeting and counts are somebody else's now
	fmt.Println(pool.Stats().InUseBytes, "bytes in use")
	// Output:
	// hi ada, 2 a
	// 0 bytes in use
}

// A request that would take the server past its Budget is refused, and what it has got so far
// goes back.
func ExampleScope_TryGet() {
	budget := dewpond.MustBudget("", 64<<10)
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "uploads", Budget: budget})
	defer pool.Close()

	upload := func(parts ...int) error {
		s := pool.Scope()
		defer s.Close()
		for _, n := range parts {
			if _, err := s.TryGet(n); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Println(upload(300, 20_000, 30_000))
	fmt.Println(errors.Is(upload(300, 20_000, 30_000, 40_000), dewpond.ErrExhausted))
	fmt.Println(pool.Stats().InUseBytes, "bytes in use")
	// Output:
	// <nil>
	// true
	// 0 bytes in use
}

// The collector does not look into a Scope, so a list of sub-slices, which are
// pointers, cannot live there. Offsets can.
func ExampleSlice() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "records"})
	defer pool.Close()
	s := pool.Scope()
	defer s.Close()

	type span struct{ start, end int }
	line := []byte("8,alice,a@x")
	fields := dewpond.ScopeSlice[span](s, bytes.Count(line, []byte(","))+1)
	at := 0
	for i := range fields {
		field, _, _ := bytes.Cut(line[at:], []byte(","))
		fields[i] = span{at, at + len(field)}
		at += len(field) + 1
	}
	for _, f := range fields {
		fmt.Printf("%q\n", line[f.start:f.end])
	}
	// Output:
	// "8"
	// "alice"
	// "a@x"
}

// A handler whose request and answer live in one Scope. The module examples has
// a whole server of this kind, beside one that uses make.
func ExampleBytePool_Scope() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "requests"})
	defer pool.Close()

	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength < 0 || r.ContentLength > 1<<20 {
			http.Error(w, "a body of at most 1 MiB, please", http.StatusRequestEntityTooLarge)
			return
		}
		s := pool.Scope()
		defer s.Close()
		body := s.Get(int(r.ContentLength))
		if _, err := io.ReadFull(r.Body, body); err != nil {
			http.Error(w, "the body is cut short", http.StatusBadRequest)
			return
		}
		answer := s.Get(2 * len(body))[:0]
		for word := range bytes.FieldsSeq(body) {
			answer = append(append(answer, word...), '\n')
		}
		w.Write(answer) // copies: no Writer may keep what it is given
	}

	w := httptest.NewRecorder()
	handler(w, httptest.NewRequest("POST", "/", strings.NewReader("one two three")))
	fmt.Print(w.Body)
	fmt.Println(pool.Stats().InUseBytes, "bytes in use")
	// Output:
	// one
	// two
	// three
	// 0 bytes in use
}
