package checks

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"

	"github.com/dewpond/dewpond/misuse"
)

// report logs a Violation with the program's default logger, so that a person can read it where
// its handler writes for persons: the stacks are on lines of their own. Other handlers have
// them as fields.
func report(v misuse.Violation) {
	logger := slog.Default()
	h := logger.Handler()
	if _, text := h.(*slog.TextHandler); text {
		// It escapes what breaks a line, so each line is a record.
		logger.Error(fmt.Sprintf("dewpond: %v: %s", v.Kind, v.Summary()), "pool", v.Pool, "age", v.Age)
		for _, line := range v.Details() {
			logger.Error("dewpond: " + line)
		}
		return
	}
	if fmt.Sprintf("%T", h) == "*slog.defaultHandler" { // writes messages as they are
		logger.Error(v.String())
		return
	}
	logger.LogAttrs(context.Background(), slog.LevelError, "dewpond: "+v.Kind.String(), fields(v)...)
}

// fields returns what a Violation has for a structured log.
func fields(v misuse.Violation) []slog.Attr {
	fields := []slog.Attr{slog.String("pool", v.Pool), slog.Int("size", v.Size), slog.Duration("age", v.Age)}
	add := func(there bool, a slog.Attr) {
		if there {
			fields = append(fields, a)
		}
	}
	add(v.Type != "", slog.String("type", v.Type))
	add(v.Count > 1, slog.Int("count", v.Count))
	add(v.Count > 1, slog.Int("bytes", v.Bytes))
	written := v.Kind == misuse.WriteAfterPut || v.Kind == misuse.WriteBeyond
	if written {
		add(true, slog.Int("offset", v.Offset))
		add(v.Field != "", slog.String("field", v.Field))
		add(true, slog.Int("written", v.Written))
		add(true, slog.String("old", hex.EncodeToString(v.Old)))
		add(true, slog.String("new", hex.EncodeToString(v.New)))
	}
	add(v.Offset != 0 && !written, slog.Int("offset", v.Offset))
	add(v.Holder != "", slog.String("holder", v.Holder))
	add(v.Got != nil, slog.Any("got", lines(v.Got)))
	add(v.Put != nil, slog.Any("put", lines(v.Put)))
	add(v.Offence != nil, slog.Any("offence", lines(v.Offence)))
	owners := make([][]string, len(v.Owners))
	for i, o := range v.Owners {
		owners[i] = lines(o)
	}
	add(len(owners) > 0, slog.Any("owners", owners))
	add(v.Advice != "", slog.String("advice", v.Advice))
	return fields
}

// lines returns a line for each frame of a stack: the function and the place.
func lines(stack []uintptr) (all []string) {
	for _, f := range misuse.Frames(stack) {
		all = append(all, fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line))
	}
	return all
}
