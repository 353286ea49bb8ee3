// Package ok02 formats metric names with their tags.
package ok02

import (
	"bytes"
	"errors"
	"slices"
	"sync"
)

var scratch sync.Pool

func get() *bytes.Buffer {
	if v := scratch.Get(); v != nil {
		b := v.(*bytes.Buffer)
		b.Reset()
		return b
	}
	return new(bytes.Buffer)
}

// Tag is a pair.
type Tag struct{ Key, Value string }

var errName = errors.New("metric without a name")

// Key gives the name and its sorted tags.
func Key(name string, tags []Tag) (key string, err error) {
	b := get()
	defer func() {
		scratch.Put(b)
		if err != nil {
			key = ""
		}
	}()
	if name == "" {
		return "", errName
	}
	b.WriteString(name)
	sorted := slices.SortedFunc(slices.Values(tags), func(x, y Tag) int {
		return bytes.Compare([]byte(x.Key), []byte(y.Key))
	})
	for _, t := range sorted {
		b.WriteByte('|')
		b.WriteString(t.Key)
		b.WriteByte('=')
		b.WriteString(t.Value)
	}
	key = b.String()
	return
}
