package hgrm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A name keeps what a user finds the file by, and nothing of it leads out of the folder.
func TestNames(t *testing.T) {
	h := hdrhistogram.New(1, 1000, 2)
	if err := h.RecordValues(7, 3); err != nil {
		t.Fatal(err)
	}
	blob, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"dewpond-get":        "dewpond-get.hgrm",
		"http/1.1-lag":       "http_1.1-lag.hgrm",
		"../evil-get":        "___evil-get.hgrm",
		"a/../../b":          "a_______b.hgrm",
		".hidden":            "_hidden.hgrm",
		"+ sync.Pool-öffnen": "__sync.Pool-__ffnen.hgrm",
	} {
		dir := t.TempDir()
		if err := new(Names).Write(dir, name, blob); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, want))
		if err != nil || !strings.Contains(string(text), "#[Max") {
			all, _ := os.ReadDir(dir)
			t.Errorf("%q is %v, want %s", name, all, want)
		}
	}
}

// Two names never are one file, also where a name is what another becomes.
func TestNamesApart(t *testing.T) {
	var names Names
	for _, c := range [][2]string{
		{"a/b", "a_b"}, {"a b", "a_b-2"}, {"A_B", "A_B-3"}, {"a_b-2", "a_b-2-2"}, {"c", "c"},
	} {
		if got := names.take(clean(c[0])); got != c[1] {
			t.Errorf("%q is %s, want %s", c[0], got, c[1])
		}
	}
}

func TestWhatIsNoHistogram(t *testing.T) {
	dir := t.TempDir()
	if err := new(Names).Write(dir, "x", []byte("nothing")); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "x.hgrm")) {
		t.Errorf("the error is %v", err)
	}
	if all, _ := os.ReadDir(dir); len(all) > 0 {
		t.Errorf("it left %v", all)
	}
}
