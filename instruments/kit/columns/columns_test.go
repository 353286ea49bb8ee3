package columns_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/columns"
)

func TestColumns(t *testing.T) {
	rows := [][]string{{"", "time", "note"}, {"first", "1 µs", "as it was"}, {"2", "12345", ""}, {"of fewer cells"}}
	if got, want := columns.Lines(rows), []string{
		"                 time       note",
		"first            1 µs  as it was",
		"2               12345",
		"of fewer cells",
	}; !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
	if got, want := columns.Remarked(rows[:3]), []string{
		"        time  note",
		"first   1 µs  as it was",
		"2      12345",
	}; !slices.Equal(got, want) {
		t.Errorf("remarked %q, want %q", got, want)
	}
	var text, markdown strings.Builder
	if err := columns.Write(&text, rows[:1]); err != nil || text.String() != "  time  note\n" {
		t.Errorf("%q, %v", text.String(), err)
	}
	if err := columns.Markdown(&markdown, rows[:2]); err != nil || markdown.String() != "|  | time | note |\n| --- | --- | --- |\n| first | 1 µs | as it was |\n" {
		t.Errorf("%q, %v", markdown.String(), err)
	}
}
