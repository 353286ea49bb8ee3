package load

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A template is a text with names in it: "/img/${id}.jpg". "$${" stands for "${" itself.
type template struct {
	parts []part
}

// A part is literal text, or a reference if its name is not empty.
type part struct {
	text  string
	ref   reference
	query bool // behind the "?" of a URL
}

// A reference is a name, with the way into its value: candidates[0], user.name.
type reference struct {
	name  string
	steps []string // a key of an object, or an index of a list
}

// literal returns the template whose text is s.
func literal(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// literals returns a value of JSON whose texts have no names in them.
func literals(v any) any {
	switch v := v.(type) {
	case string:
		return literal(v)
	case []any:
		for i := range v {
			v[i] = literals(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = literals(v[k])
		}
	}
	return v
}

func parseTemplate(s string) (template, error) {
	var t template
	var text strings.Builder
	query := false
	write := func(s string) {
		query = query || strings.Contains(s, "?")
		text.WriteString(s)
	}
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			break
		}
		if i > 0 && s[i-1] == '$' {
			write(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return t, fmt.Errorf("%q lacks its }", s[i:])
		}
		ref, err := parseReference(s[i+2 : i+end])
		if err != nil {
			return t, err
		}
		write(s[:i])
		t.parts = append(t.parts, part{text: text.String()}, part{ref: ref, query: query})
		text.Reset()
		s = s[i+end+1:]
	}
	write(s)
	t.parts = append(t.parts, part{text: text.String()})
	t.parts = slices.DeleteFunc(t.parts, func(p part) bool { return p.text == "" && p.ref.name == "" })
	return t, nil
}

func parseReference(s string) (reference, error) {
	bad := fmt.Errorf("${%s} is no name: give ${name}, ${list[0]} or ${object.key}", s)
	var r reference
	for i, key := range strings.Split(s, ".") {
		key, indexes, _ := strings.Cut(key, "[")
		if !isName(key) {
			return r, bad
		}
		if i == 0 {
			r.name = key
		} else {
			r.steps = append(r.steps, key)
		}
		for indexes != "" {
			index, rest, ok := strings.Cut(indexes, "]")
			if n, err := strconv.Atoi(index); !ok || err != nil || n < 0 {
				return r, bad
			}
			r.steps = append(r.steps, index)
			if rest != "" && rest[0] != '[' {
				return r, bad
			}
			indexes = strings.TrimPrefix(rest, "[")
		}
	}
	return r, nil
}

func isName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && r != '-' && !('0' <= r && r <= '9') && !('a' <= r && r <= 'z') && !('A' <= r && r <= 'Z')
	}) < 0
}

// plain reports whether the template has no names, and returns its text.
func (t template) plain() (string, bool) {
	switch {
	case len(t.parts) == 0:
		return "", true
	case len(t.parts) == 1 && t.parts[0].ref.name == "":
		return t.parts[0].text, true
	}
	return "", false
}

// names yields each reference's name.
func (t template) names() []string {
	var names []string
	for _, p := range t.parts {
		if p.ref.name != "" {
			names = append(names, p.ref.name)
		}
	}
	return names
}

// values are what names stand for.
type values interface {
	Value(name string) (any, bool)
}

// A missingError is a name that has no value in this session.
type missingError struct{ name string }

func (e missingError) Error() string { return fmt.Sprintf("${%s} has no value here", e.name) }

// value returns the value itself of a template that is one name, and otherwise the text.
func (t template) value(v values) (any, error) {
	if len(t.parts) == 1 && t.parts[0].ref.name != "" {
		return t.parts[0].ref.in(v)
	}
	return t.text(v)
}

// text returns the text with each name replaced by its value.
func (t template) text(v values) (string, error) { return t.format(v, nil) }

// url is text with each value escaped as its place in a URL needs.
func (t template) url(v values) (string, error) {
	return t.format(v, func(s string, query bool) string {
		if query {
			return url.QueryEscape(s)
		}
		return url.PathEscape(s)
	})
}

func (t template) format(v values, escape func(string, bool) string) (string, error) {
	if s, ok := t.plain(); ok {
		return s, nil
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.ref.name == "" {
			b.WriteString(p.text)
			continue
		}
		value, err := p.ref.in(v)
		if err != nil {
			return "", err
		}
		s := format(value)
		if escape != nil {
			s = escape(s, p.query)
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

func (r reference) in(v values) (any, error) {
	value, ok := v.Value(r.name)
	for _, step := range r.steps {
		if !ok {
			break
		}
		value, ok = child(value, step)
	}
	if !ok {
		return nil, missingError{r.String()}
	}
	return value, nil
}

func (r reference) String() string { return strings.Join(append([]string{r.name}, r.steps...), ".") }

// child returns the member of an object or the element of a list.
func child(v any, key string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		value, ok := v[key]
		return value, ok
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v) {
			return v[i], true
		}
	}
	return nil, false
}

// format returns a value as it stands in a text: a string as it is, anything else as JSON.
func format(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// A tree is a JSON value whose texts are templates.
type tree struct {
	leaf   *template // a text
	list   []tree
	object map[string]tree
	other  any
}

func parseTree(v any) (tree, error) {
	switch v := v.(type) {
	case string:
		t, err := parseTemplate(v)
		return tree{leaf: &t}, err
	case []any:
		t := tree{list: []tree{}}
		for _, e := range v {
			child, err := parseTree(e)
			if err != nil {
				return t, err
			}
			t.list = append(t.list, child)
		}
		return t, nil
	case map[string]any:
		t := tree{object: map[string]tree{}}
		for k, e := range v {
			child, err := parseTree(e)
			if err != nil {
				return t, err
			}
			t.object[k] = child
		}
		return t, nil
	}
	return tree{other: v}, nil
}

func (t tree) names() []string {
	var names []string
	if t.leaf != nil {
		names = t.leaf.names()
	}
	for _, c := range t.list {
		names = append(names, c.names()...)
	}
	for _, c := range t.object {
		names = append(names, c.names()...)
	}
	slices.Sort(names)
	return names
}

// value returns the JSON value with each name replaced.
func (t tree) value(v values) (any, error) {
	switch {
	case t.leaf != nil:
		return t.leaf.value(v)
	case t.list != nil:
		out := make([]any, len(t.list))
		for i, c := range t.list {
			var err error
			if out[i], err = c.value(v); err != nil {
				return nil, err
			}
		}
		return out, nil
	case t.object != nil:
		out := make(map[string]any, len(t.object))
		for k, c := range t.object {
			var err error
			if out[k], err = c.value(v); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return t.other, nil
}
