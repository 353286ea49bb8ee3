package dewslog

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"

	"github.com/dewpond/dewpond"
)

// A Handler is a [slog.Handler] that writes lines of JSON, with the same keys and values as
// [slog.JSONHandler]. Make one with [New]. All methods may be called by several goroutines
// at once.
type Handler struct {
	options slog.HandlerOptions
	lines   *dewpond.BodyPool
	out     *output

	attrs  []byte   // of WithAttrs, as they are in each line
	groups []string // of WithGroup
	opened int      // how many of groups are open in attrs
}

// An output is shared by a handler and all that With made of it.
type output struct {
	mu sync.Mutex // held for one Write
	w  io.Writer
}

// New returns a handler that writes to w, one Write for each record, one at a time. w must
// not keep the line. options may be nil. It panics if pool is off the heap, as
// [dewpond.BytePool.Bodies] does.
func New(w io.Writer, pool *dewpond.BytePool, options *slog.HandlerOptions) *Handler {
	h := &Handler{lines: pool.Bodies(), out: &output{w: w}}
	if options != nil {
		h.options = *options
	}
	return h
}

// Enabled reports whether records of the level are written.
func (h *Handler) Enabled(_ context.Context, level slog.Level) bool {
	least := slog.LevelInfo
	if h.options.Level != nil {
		least = h.options.Level.Level()
	}
	return level >= least
}

// WithAttrs returns a handler whose lines have these attributes, too.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	line := append([]byte{'{'}, h.attrs...)
	line = h.openGroups(line)
	opened := len(line)
	for _, a := range attrs {
		line = h.appendAttr(line, h.groups, a)
	}
	if len(line) == opened {
		return h
	}
	with := *h
	with.attrs, with.opened = slices.Clip(line[1:]), len(h.groups)
	return &with
}

// WithGroup returns a handler whose further attributes are in a group of this name.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := *h
	with.groups = append(slices.Clip(h.groups), name)
	return &with
}

// Handle formats a record and writes it.
func (h *Handler) Handle(_ context.Context, r slog.Record) error {
	line := h.lines.Get()
	defer func() { h.lines.Put(line) }() // also if a value's method panics
	line = h.appendRecord(line, r)
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	_, err := h.out.w.Write(line)
	return err
}

func (h *Handler) appendRecord(b []byte, r slog.Record) []byte {
	b = append(b, '{')
	if !r.Time.IsZero() {
		b = h.appendAttr(b, nil, slog.Time(slog.TimeKey, r.Time.Round(0)))
	}
	b = h.appendAttr(b, nil, slog.Any(slog.LevelKey, r.Level))
	if h.options.AddSource {
		b = h.appendAttr(b, nil, slog.Any(slog.SourceKey, r.Source())) // left out where it is nil
	}
	b = h.appendAttr(b, nil, slog.String(slog.MessageKey, r.Message))
	if len(h.attrs) > 0 && len(b) > 1 {
		b = append(b, ',')
	}
	b = append(b, h.attrs...)

	before := len(b)
	b = h.openGroups(b)
	opened, open := len(b), len(h.groups)
	r.Attrs(func(a slog.Attr) bool {
		b = h.appendAttr(b, h.groups, a)
		return true
	})
	if len(b) == opened { // groups that would be empty are left out
		b, open = b[:before], h.opened
	}
	for range open {
		b = append(b, '}')
	}
	return append(b, '}', '\n')
}

// openGroups opens the groups that are not open in attrs.
func (h *Handler) openGroups(b []byte) []byte {
	for _, name := range h.groups[h.opened:] {
		b = append(appendKey(b, name), '{')
	}
	return b
}

// sourceGroup returns what is known of a place in the source.
func sourceGroup(s *slog.Source) slog.Value {
	var known []slog.Attr
	if s != nil && s.Function != "" {
		known = append(known, slog.String("function", s.Function))
	}
	if s != nil && s.File != "" {
		known = append(known, slog.String("file", s.File))
	}
	if s != nil && s.Line != 0 {
		known = append(known, slog.Int("line", s.Line))
	}
	return slog.GroupValue(known...)
}

// appendAttr appends an attribute that is in groups, unless it is empty.
func (h *Handler) appendAttr(b []byte, groups []string, a slog.Attr) []byte {
	a.Value = a.Value.Resolve()
	if h.options.ReplaceAttr != nil && a.Value.Kind() != slog.KindGroup {
		a = h.options.ReplaceAttr(groups, a)
		a.Value = a.Value.Resolve()
	}
	if a.Equal(slog.Attr{}) {
		return b
	}
	if a.Value.Kind() == slog.KindAny {
		if source, ok := a.Value.Any().(*slog.Source); ok {
			a.Value = sourceGroup(source)
		}
	}
	if a.Value.Kind() != slog.KindGroup {
		return appendValue(appendKey(b, a.Key), a.Value)
	}
	before := len(b)
	if a.Key != "" {
		b = append(appendKey(b, a.Key), '{')
		groups = append(slices.Clip(groups), a.Key)
	}
	opened := len(b)
	for _, inner := range a.Value.Group() {
		b = h.appendAttr(b, groups, inner)
	}
	switch {
	case len(b) == opened:
		return b[:before]
	case a.Key != "":
		b = append(b, '}')
	}
	return b
}
