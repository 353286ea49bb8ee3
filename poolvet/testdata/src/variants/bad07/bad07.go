// Package bad07 is a batching structured logger.
package bad07

import (
	"fmt"
	"io"
	"sync"
	"time"
)

type entry struct {
	at     time.Time
	msg    string
	fields []any
}

var entries = sync.Pool{New: func() any { return new(entry) }}

type batch struct {
	mu      sync.Mutex
	pending []*entry
	w       io.Writer
}

func (b *batch) add(e *entry) {
	b.mu.Lock()
	b.pending = append(b.pending, e)
	b.mu.Unlock()
}

// Flush writes all that is pending.
func (b *batch) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.pending {
		fmt.Fprintln(b.w, e.at.Format(time.RFC3339), e.msg, e.fields)
	}
	b.pending = b.pending[:0]
}

// Logger logs in batches.
type Logger struct {
	batch
}

// New returns a logger that writes to w on Flush.
func New(w io.Writer) *Logger { return &Logger{batch: batch{w: w}} }

// Info logs one message.
func (l *Logger) Info(msg string, kv ...any) {
	e := entries.Get().(*entry)
	e.at, e.msg = time.Now(), msg
	e.fields = append(e.fields[:0], kv...)
	l.add(e)
	entries.Put(e) // want `\(useafterput\)`
}
