package checks

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"

	"github.com/dewpond/dewpond/internal/check"
)

// report logs a Report with the program's default logger, so that a person can read it where
// its handler writes for persons: the stacks are on lines of their own. Other handlers have
// them as fields.
func report(r check.Report) {
	logger := slog.Default()
	h := logger.Handler()
	if _, text := h.(*slog.TextHandler); text {
		// It escapes what breaks a line, so each line is a record.
		logger.Error(fmt.Sprintf("dewpond: %v: %s", r.Kind, r.Summary()), "pool", r.Pool, "age", r.Age)
		for _, line := range r.Rest() {
			logger.Error("dewpond: " + line)
		}
		return
	}
	if fmt.Sprintf("%T", h) == "*slog.defaultHandler" { // writes messages as they are
		logger.Error(r.String())
		return
	}
	logger.LogAttrs(context.Background(), slog.LevelError, "dewpond: "+r.Kind.String(), fields(r)...)
}

// fields returns what a Report has for a structured log.
func fields(r check.Report) []slog.Attr {
	fields := []slog.Attr{slog.String("pool", r.Pool), slog.Int("size", r.Size), slog.Duration("age", r.Age)}
	add := func(there bool, a slog.Attr) {
		if there {
			fields = append(fields, a)
		}
	}
	add(r.Type != "", slog.String("type", r.Type))
	add(r.Count > 1, slog.Int("count", r.Count))
	add(r.Count > 1, slog.Int("bytes", r.Bytes))
	written := r.Kind == check.WriteAfterPut || r.Kind == check.WriteBeyond
	if written {
		add(true, slog.Int("offset", r.Offset))
		add(r.Field != "", slog.String("field", r.Field))
		add(true, slog.Int("written", r.Written))
		add(true, slog.String("old", hex.EncodeToString(r.Old)))
		add(true, slog.String("new", hex.EncodeToString(r.New)))
	}
	add(r.Offset != 0 && !written, slog.Int("offset", r.Offset))
	add(r.Holder != "", slog.String("holder", r.Holder))
	add(r.Got != nil, slog.Any("got", check.Lines(r.Got)))
	add(r.Put != nil, slog.Any("put", check.Lines(r.Put)))
	add(r.Offence != nil, slog.Any("offence", check.Lines(r.Offence)))
	owners := make([][]string, len(r.Owners))
	for i, o := range r.Owners {
		owners[i] = check.Lines(o)
	}
	add(len(owners) > 0, slog.Any("owners", owners))
	add(r.Advice != "", slog.String("advice", r.Advice))
	return fields
}
