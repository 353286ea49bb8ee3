package load

import (
	"fmt"
	"strings"
)

// A pointer is a JSON Pointer (RFC 6901) in which * stands for every element of a list.
type pointer []string

func parsePointer(s string) (pointer, error) {
	if s == "" {
		return nil, nil // the whole document
	}
	if s[0] != '/' {
		return nil, fmt.Errorf("%q is no JSON pointer: give / and a key, such as /candidates/*/uid", s)
	}
	p := pointer(strings.Split(s[1:], "/"))
	for i, key := range p {
		for k := 0; k < len(key); k++ {
			if key[k] == '~' && (k+1 == len(key) || key[k+1] != '0' && key[k+1] != '1') {
				return nil, fmt.Errorf("%q is no JSON pointer: write ~ as ~0 and / as ~1", s)
			}
		}
		p[i] = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
	}
	return p, nil
}

// in returns what the pointer points to, and whether it is there. A list that * makes is there if
// it has an element.
func (p pointer) in(v any) (any, bool) {
	for i, key := range p {
		list, isList := v.([]any)
		if key == "*" && isList {
			var all []any
			for _, e := range list {
				if found, ok := p[i+1:].in(e); ok {
					all = append(all, found)
				}
			}
			return all, len(all) > 0
		}
		var ok bool
		if v, ok = child(v, key); !ok {
			return nil, false
		}
	}
	return v, there(v)
}

// there reports whether a value is something: null and an empty list are not.
func there(v any) bool {
	list, isList := v.([]any)
	return v != nil && !(isList && len(list) == 0)
}
