// Package bad03 compiles mail templates.
package bad03

import (
	"bytes"
	"sync"
	"text/template"
)

// Pool is a typed pool.
type Pool[T any] struct {
	inner sync.Pool
}

// NewPool makes a pool from a constructor.
func NewPool[T any](mk func() T) *Pool[T] {
	return &Pool[T]{inner: sync.Pool{New: func() any { return mk() }}}
}

// With lends one object to fn and takes it back afterwards.
func (p *Pool[T]) With(fn func(T) error) error {
	v := p.inner.Get().(T)
	defer p.inner.Put(v)
	return fn(v)
}

var buffers = NewPool(func() *bytes.Buffer { return new(bytes.Buffer) })

// Mailer fills templates.
type Mailer struct {
	tpl *template.Template
}

// Compose executes the named template and drops blank lines at its end.
func (m *Mailer) Compose(name string, data any) ([]byte, error) {
	var body []byte
	err := buffers.With(func(b *bytes.Buffer) error {
		b.Reset()
		if err := m.tpl.ExecuteTemplate(b, name, data); err != nil {
			return err
		}
		body = bytes.TrimRight(b.Bytes(), "\r\n\t ") // want `\(returnput\)`
		return nil
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}
