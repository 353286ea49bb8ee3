package scenariofile

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// An object is a mapping whose keys are read by name. Reading goes on after a mistake; the file
// keeps the first.
type object struct {
	f      *File
	node   ast.Node
	where  string // as load.InvalidError.Where has it
	order  []string
	fields map[string]ast.Node
}

// object reads a mapping that may have these keys; no keys are any keys.
func (f *File) object(n ast.Node, where string, keys ...string) *object {
	o := &object{f: f, node: n, where: where, fields: map[string]ast.Node{}}
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		f.fail(n, "%s is no list of keys: give %s", what(n), example(keys))
		return o
	}
	for _, v := range values {
		key := v.Key.GetToken().Value
		if len(keys) > 0 && !slices.Contains(keys, key) {
			f.fail(v.Key, "unknown key %q: known here are %s", key, strings.Join(keys, ", "))
		}
		if o.fields[key] != nil {
			f.fail(v.Key, "%q is there twice: give it once", key)
		}
		o.order = append(o.order, key)
		o.fields[key] = v.Value
		f.places[o.path(key)] = v.Value.GetToken()
		if _, is := v.Value.(*ast.NullNode); is {
			f.places[o.path(key)] = v.Key.GetToken()
		}
	}
	return o
}

func (o *object) path(key string) string {
	if o.where == "" {
		return key
	}
	return o.where + "." + key
}

func example(keys []string) string {
	if len(keys) == 0 {
		return "KEY: VALUE"
	}
	return keys[0] + ": VALUE"
}

// what names a value in an error.
func what(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	default:
		return `"` + n.GetToken().Value + `"`
	}
}

func (o *object) has(key string) bool { return o.fields[key] != nil }

// text returns a scalar as it is written.
func (o *object) text(key string) string {
	n := o.fields[key]
	switch n := n.(type) {
	case nil:
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value
	default:
		o.f.fail(n, "%s: %s is no text", key, what(n))
	}
	return ""
}

func (o *object) number(key string) float64 {
	n := o.fields[key]
	if n == nil {
		return 0
	}
	v, ok := number(n)
	if !ok {
		o.f.fail(n, "%s: %s is no number", key, what(n))
	}
	return v
}

func number(n ast.Node) (float64, bool) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		switch v := n.Value.(type) {
		case int64:
			return float64(v), true
		case uint64:
			return float64(v), true
		}
	case *ast.FloatNode:
		return n.Value, true
	}
	return 0, false
}

// integer returns a whole number from least to most; least if the key is not there. A most of
// math.MaxInt32 stands for a bound that load itself has.
func (o *object) integer(key string, least, most int) int {
	n := o.fields[key]
	if n == nil {
		return least
	}
	v, ok := number(n)
	if !ok || v != math.Trunc(v) || v < float64(least) || v > float64(most) {
		upTo := ""
		if most != math.MaxInt32 {
			upTo = fmt.Sprintf(" to %d", most)
		}
		o.f.fail(n, "%s: %s: give a whole number from %d%s", key, what(n), least, upTo)
		return least
	}
	return int(v)
}

func (o *object) boolean(key string) bool {
	switch n := o.fields[key].(type) {
	case nil:
	case *ast.BoolNode:
		return n.Value
	default:
		o.f.fail(n, "%s: %s: give true or false", key, what(n))
	}
	return false
}

func (o *object) duration(key string) time.Duration {
	if !o.has(key) {
		return 0
	}
	d, err := time.ParseDuration(o.text(key))
	if err != nil {
		o.f.fail(o.fields[key], "%s: %s is no time: give one such as 500ms or 2s", key, what(o.fields[key]))
	}
	return d
}

// texts returns a mapping of texts.
func (o *object) texts(key string) map[string]string {
	if !o.has(key) {
		return nil
	}
	inner := o.f.object(o.fields[key], o.path(key))
	out := map[string]string{}
	for name := range maps.Keys(inner.fields) {
		out[name] = inner.text(name)
	}
	return out
}

// list returns the elements of a list, and nil if the key is not there.
func (o *object) list(key string) []ast.Node {
	switch n := o.fields[key].(type) {
	case nil:
	case *ast.SequenceNode:
		return n.Values
	default:
		o.f.fail(n, "%s: %s is no list: give [..., ...], or - before each", key, what(n))
	}
	return nil
}

// value returns a value as encoding/json has it, and takes note of where its parts are.
func (f *File) value(n ast.Node, where string) any {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.IntegerNode:
		return n.Value
	case *ast.FloatNode:
		return n.Value
	case *ast.BoolNode:
		return n.Value
	case *ast.NullNode:
		return nil
	case *ast.SequenceNode:
		out := []any{}
		for i, e := range n.Values {
			place := where + "[" + strconv.Itoa(i) + "]"
			f.places[place] = e.GetToken()
			out = append(out, f.value(e, place))
		}
		return out
	case *ast.MappingNode, *ast.MappingValueNode:
		o := f.object(n, where)
		out := map[string]any{}
		for key, e := range o.fields {
			out[key] = f.value(e, o.path(key))
		}
		return out
	}
	f.fail(n, "%s: give a text, a number, true, false, null, a list or a mapping", what(n))
	return nil
}
