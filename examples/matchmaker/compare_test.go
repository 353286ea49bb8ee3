package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/measure"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/comparison"
)

// Two variants are measured by three processes. What a short run on a busy machine measures is
// chance; that no request fails is not.
func TestCompare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	c := &compareCommand{
		Postgres: standIn, Redis: standIn, Connections: 8, JSON: file, Only: []string{"all"},
		times: times{50 * time.Millisecond, 300 * time.Millisecond, 300 * time.Millisecond},
	}
	var out strings.Builder
	if err := c.compare(t.Context(), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r comparison.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2 || r.Rows[0].Variant != "before" || r.Rows[1].Variant != "all" || !r.StandIn {
		t.Fatalf("%s", text)
	}
	for _, row := range r.Rows {
		if row.Response.Errors > 0 || row.Allocs <= 0 || row.Bytes <= 0 {
			t.Errorf("%+v", row)
		}
	}
	if !containsAll(out.String(), "stand-in", "No verdict", "312 ms") {
		t.Error(out.String())
	}
}

func TestCompareRefuses(t *testing.T) {
	for _, tt := range []struct {
		c    compareCommand
		says string
	}{
		{compareCommand{}, "give 1 or more"},
		{compareCommand{Connections: 8, Only: []string{"+ luck"}}, "the variants are before; "},
		{compareCommand{Connections: int(measure.OpenFiles())}, "open files, and a process may have"},
		{compareCommand{Connections: 8, Redis: "x", Postgres: standIn}, "is no region"},
	} {
		if tt.c.Connections > 1<<30 {
			continue // a system without a bound on open files
		}
		err := tt.c.compare(context.Background(), io.Discard, io.Discard)
		if !errors.As(err, new(usageError)) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v, want %q", tt.c, err, tt.says)
		}
	}
}
