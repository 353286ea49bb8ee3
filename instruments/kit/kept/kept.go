// Package kept holds the names that users type and read, of flags and in JSON, against those of an
// earlier time, so that none is lost without a word. It is for tests.
package kept

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Test fails where names of a list are lost, or are told of wrongly. A list is a file with a name a
// line:
//
//	bench --json
//	bench --old -> bench --new
//	bench --other gone: why it is
//
// A name with an arrow is another now, and so are all that begin with it. Both that and what is gone
// must be told of in one of the documents, which has the last word of the old name. Lines that begin
// with # are remarks. now is every name that there is.
func Test(t interface {
	Helper()
	Error(...any)
}, list string, now []string, documents ...string,
) {
	t.Helper()
	data, err := os.ReadFile(list)
	if err != nil {
		t.Error(err)
	}
	var told strings.Builder
	for _, d := range documents {
		text, err := os.ReadFile(d)
		if err != nil {
			t.Error(err)
		}
		told.Write(text)
	}
	for _, fault := range faults(string(data), now, told.String()) {
		t.Error(fault)
	}
}

func faults(list string, now []string, told string) (out []string) {
	var names []string
	renamed := map[string]string{} // "" of what is gone
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, to, arrow := strings.Cut(line, " -> ")
		if !arrow {
			var why string
			var gone bool
			if name, why, gone = strings.Cut(line, " gone:"); gone && strings.TrimSpace(why) == "" {
				out = append(out, fmt.Sprintf("%s: say why it is gone", name))
			} else if !gone {
				names = append(names, name)
				continue
			}
		}
		if renamed[name] = to; slices.Contains(now, name) {
			out = append(out, fmt.Sprintf("%s: is there, and the list says that it is not", name))
		}
		if !arrow || slices.Contains(now, to) {
			names = append(names, name)
		} else {
			out = append(out, fmt.Sprintf("%s: there is no %s, which it is said to be now", name, to))
		}
		if word := last(name); !regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(word) + `($|[^\w-])`).MatchString(told) {
			out = append(out, fmt.Sprintf("%s: no document says that %s is gone or another", name, word))
		}
	}
	for _, name := range names {
		if to, gone := called(name, renamed); !gone && !slices.Contains(now, to) {
			out = append(out, fmt.Sprintf("%s: is lost, without a word", name))
		}
	}
	return out
}

// called returns what a name is now, by the longest name that was renamed and that it begins with.
func called(name string, renamed map[string]string) (now string, gone bool) {
	for i := len(name); i > 0; i-- {
		if i < len(name) && !strings.ContainsRune(" .[", rune(name[i])) {
			continue
		}
		if to, ok := renamed[name[:i]]; ok {
			return to + name[i:], to == ""
		}
	}
	return name, false
}

// last returns the last word of a name.
func last(name string) string {
	return strings.TrimRight(name[strings.LastIndexAny(strings.TrimRight(name, "[]"), " .")+1:], "[]")
}
