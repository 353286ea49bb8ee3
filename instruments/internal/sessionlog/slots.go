package sessionlog

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A slot is a place in a request that may have an id: a part of the path, a value of the query, or
// a leaf of a body in JSON.
type slot struct {
	key    string // path:2, query:uid, body:/uid
	name   string // of what it holds, such as uid; empty if nothing says
	number bool   // of JSON
	text   bool   // of JSON
}

// slots returns the values of a request by their slots' keys.
func slots(r *Request) (values map[string]string, known map[string]slot) {
	values, known = map[string]string{}, map[string]slot{}
	put := func(s slot, value string) {
		values[s.key], known[s.key] = value, s
	}
	path, query, _ := strings.Cut(r.Path, "?")
	for i, part := range strings.Split(path, "/") {
		plain, err := url.PathUnescape(part)
		if err != nil {
			plain = part
		}
		put(slot{key: "path:" + strconv.Itoa(i)}, plain)
	}
	if parsed, err := url.ParseQuery(query); err == nil {
		for name := range parsed {
			put(slot{key: "query:" + name, name: name}, parsed.Get(name))
		}
	}
	if body, ok := document(r.Body); ok {
		leaves(body, "body:", "", put)
	}
	return values, known
}

// document returns a body in JSON that is an object or a list.
func document(body string) (any, bool) {
	var v any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	switch v.(type) {
	case map[string]any, []any:
		return v, true
	}
	return nil, false
}

func leaves(v any, at, name string, put func(slot, string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			leaves(e, at+"/"+key, key, put)
		}
	case []any:
		for i, e := range v {
			leaves(e, fmt.Sprintf("%s/%d", at, i), name, put)
		}
	case json.Number:
		put(slot{key: at, name: name, number: true}, v.String())
	case string:
		put(slot{key: at, name: name, text: true}, v)
	}
}

// fill returns the value with the text of give in place of each leaf that give knows.
func fill(v any, at string, give map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, e := range v {
			out[key] = fill(e, at+"/"+key, give)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = fill(e, fmt.Sprintf("%s/%d", at, i), give)
		}
		return out
	case string:
		if text, ok := give[at]; ok {
			return text
		}
		return literal(v)
	}
	if text, ok := give[at]; ok {
		return text
	}
	return v
}

// literal returns a text in which nothing is a name.
func literal(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// A variable is a slot of a step that does not always hold the same.
type variable struct {
	slot
	prefix, suffix string     // what is around the id, always
	values         [][]string // of each session
	several        bool       // a session has different ones
	data           *datum
	item           bool // it is the item of the step's each
}

// variables finds the slots of a step that vary. calls are of each session; nil for those that do
// not have the step.
func variables(calls [][]*Request, sample *Request) []*variable {
	_, known := slots(sample)
	all := map[string]*variable{}
	for key, s := range known {
		all[key] = &variable{slot: s, values: make([][]string, len(calls))}
	}
	for session, requests := range calls {
		for _, r := range requests {
			if parts(r) != parts(sample) {
				continue
			}
			values, is := slots(r)
			for key, v := range all {
				value, ok := values[key]
				if !ok && strings.HasPrefix(key, "body:") && r.Body == "" {
					continue // the log leaves long bodies out
				}
				if !ok || is[key].number != v.number {
					delete(all, key) // it is not always there, or not always of this type
					continue
				}
				v.values[session] = append(v.values[session], value)
			}
		}
	}
	var out []*variable
	for _, key := range slices.Sorted(maps.Keys(all)) {
		v := all[key]
		distinct := v.distinct()
		if len(distinct) < 2 || v.number && !whole(distinct) {
			continue
		}
		if strings.HasPrefix(key, "path:") && !whole(distinct) {
			v.trim(distinct)
		}
		out = append(out, v)
	}
	return out
}

// parts returns how many parts the path has.
func parts(r *Request) int {
	path, _, _ := strings.Cut(r.Path, "?")
	return strings.Count(path, "/")
}

// distinct returns all values in order. It also sees whether a session has several.
func (v *variable) distinct() []string {
	seen := map[string]bool{}
	for _, values := range v.values {
		for _, x := range values {
			seen[x] = true
			v.several = v.several || x != values[0]
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// trim takes off what all values begin and end with, as far as it is not in the middle of a word.
func (v *variable) trim(distinct []string) {
	first, last := distinct[0], distinct[len(distinct)-1] // in order, so all others are between
	n := 0
	for n < min(len(first), len(last)) && first[n] == last[n] {
		n++
	}
	prefix := first[:n]
	prefix = prefix[:strings.LastIndexFunc(prefix, isMark)+1]
	suffix := first[len(prefix):]
	for _, d := range distinct {
		for !strings.HasSuffix(d[len(prefix):], suffix) {
			suffix = suffix[1:]
		}
	}
	if i := strings.IndexFunc(suffix, isMark); i >= 0 {
		suffix = suffix[i:]
	} else {
		suffix = ""
	}
	for _, d := range distinct {
		if len(d) <= len(prefix)+len(suffix) { // nothing would be left of it
			return
		}
	}
	v.prefix, v.suffix = prefix, suffix
	for _, values := range v.values {
		for i, x := range values {
			values[i] = x[len(prefix) : len(x)-len(suffix)]
		}
	}
}

// isMark reports whether a word ends here.
func isMark(r rune) bool {
	return r < unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// whole reports whether all are whole numbers, as scenarios draw them.
func whole(values []string) bool {
	for _, v := range values {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != v || n >= 1<<53 || n <= -1<<53 {
			return false
		}
	}
	return true
}
