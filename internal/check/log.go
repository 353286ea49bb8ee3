package check

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
)

// Log logs a Report with the program's default logger, so that a person can read it where
// its handler writes for persons: the stacks are on lines of their own. Other handlers have
// them as fields.
func (r Report) Log() {
	logger := slog.Default()
	h := logger.Handler()
	if _, text := h.(*slog.TextHandler); text {
		// It escapes what breaks a line, so each line is a record.
		logger.Error(fmt.Sprintf("dewpond: %v: %s", r.Kind, r.summary()), "pool", r.Pool, "age", r.Age)
		for _, line := range r.lines() {
			logger.Error("dewpond: " + line)
		}
		return
	}
	if fmt.Sprintf("%T", h) == "*slog.defaultHandler" { // writes messages as they are
		logger.Error(r.String())
		return
	}
	logger.LogAttrs(context.Background(), slog.LevelError, "dewpond: "+r.Kind.String(), r.fields()...)
}

// lines returns a report without its first line, each frame in a line.
func (r Report) lines() []string {
	lines := r.details()
	for _, s := range r.stacks() {
		lines = append(lines, s.title+" at")
		for _, f := range frames(s.stack) {
			lines = append(lines, "    "+f)
		}
	}
	if r.Advice != "" {
		lines = append(lines, r.Advice)
	}
	return lines
}

// fields returns what a Report has for a structured log.
func (r Report) fields() []slog.Attr {
	fields := []slog.Attr{slog.String("pool", r.Pool), slog.Int("size", r.Size), slog.Duration("age", r.Age)}
	add := func(there bool, a slog.Attr) {
		if there {
			fields = append(fields, a)
		}
	}
	add(r.Type != "", slog.String("type", r.Type))
	add(r.Count > 1, slog.Int("count", r.Count))
	add(r.Count > 1, slog.Int("bytes", r.Bytes))
	if r.Kind == WriteAfterPut {
		add(true, slog.Int("offset", r.Offset))
		add(r.Field != "", slog.String("field", r.Field))
		add(true, slog.Int("written", r.Written))
		add(true, slog.String("old", hex.EncodeToString(r.Old)))
		add(true, slog.String("new", hex.EncodeToString(r.New)))
	}
	add(r.Offset != 0 && r.Kind != WriteAfterPut, slog.Int("offset", r.Offset))
	add(r.Holder != "", slog.String("holder", r.Holder))
	add(r.Got != nil, slog.Any("got", frames(r.Got)))
	add(r.Put != nil, slog.Any("put", frames(r.Put)))
	add(r.Offence != nil, slog.Any("offence", frames(r.Offence)))
	owners := make([][]string, len(r.Owners))
	for i, o := range r.Owners {
		owners[i] = frames(o)
	}
	add(len(owners) > 0, slog.Any("owners", owners))
	add(r.Advice != "", slog.String("advice", r.Advice))
	return fields
}

// frames returns a line for each frame of a stack: the function and the place.
func frames(s Stack) (lines []string) {
	for _, f := range s.Frames() {
		lines = append(lines, fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line))
	}
	return lines
}
