package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// checkMessage returns an error, with the place, where a message of this kind cannot have the value,
// whatever its names stand for. What depends on a name is only known when it is filled in.
func checkMessage(kind protoreflect.MessageDescriptor, value tree, where string) error {
	switch {
	case value.object == nil || strings.HasPrefix(string(kind.FullName()), "google.protobuf."): // which have forms of their own
		if value.other == nil && value.leaf == nil && value.list == nil && value.object == nil {
			return nil
		}
		return fits(kind, value, where, func(v any) any { return v })
	}
	for _, key := range slices.Sorted(maps.Keys(value.object)) {
		if strings.HasPrefix(key, "[") { // an extension
			continue
		}
		field := fieldOf(kind, key)
		if field == nil {
			return at(where+"."+key, "%s has no field %q: it has %s", kind.FullName(), key, fieldsOf(kind))
		}
		if err := checkField(kind, field, key, value.object[key], where+"."+key); err != nil {
			return err
		}
	}
	return nil
}

func fieldOf(kind protoreflect.MessageDescriptor, key string) protoreflect.FieldDescriptor {
	if f := kind.Fields().ByJSONName(key); f != nil {
		return f
	}
	return kind.Fields().ByTextName(key)
}

// fieldsOf lists the names that JSON has for the fields.
func fieldsOf(kind protoreflect.MessageDescriptor) string {
	names := map[string]bool{}
	for i := range kind.Fields().Len() {
		names[kind.Fields().Get(i).JSONName()] = true
	}
	return listed(names)
}

func checkField(kind protoreflect.MessageDescriptor, field protoreflect.FieldDescriptor, key string, value tree, where string) error {
	switch {
	case field.IsMap() && value.object != nil:
		for _, k := range slices.Sorted(maps.Keys(value.object)) {
			one := tree{object: map[string]tree{k: value.object[k]}}
			if of := field.MapValue().Message(); of != nil && value.object[k].object != nil {
				if err := checkMessage(of, value.object[k], where+"."+k); err != nil {
					return err
				}
				one.object[k] = tree{object: map[string]tree{}}
			}
			if err := fits(kind, one, where+"."+k, func(v any) any { return map[string]any{key: v} }); err != nil {
				return err
			}
		}
	case field.IsList() && value.list != nil:
		for i, e := range value.list {
			place := fmt.Sprintf("%s[%d]", where, i)
			if of := field.Message(); of != nil && e.object != nil {
				if err := checkMessage(of, e, place); err != nil {
					return err
				}
				continue
			}
			if err := fits(kind, e, place, func(v any) any { return map[string]any{key: []any{v}} }); err != nil {
				return err
			}
		}
	case field.Message() != nil && !field.IsList() && !field.IsMap() && value.object != nil:
		return checkMessage(field.Message(), value, where)
	default:
		return fits(kind, value, where, func(v any) any { return map[string]any{key: v} })
	}
	return nil
}

// fits returns an error where a message cannot be read from a value without names, put where it
// belongs.
func fits(kind protoreflect.MessageDescriptor, value tree, where string, in func(any) any) error {
	if len(value.names()) > 0 {
		return nil
	}
	v, err := value.value(nil)
	if err != nil {
		return at(where, "%v", err)
	}
	text, err := json.Marshal(in(v))
	if err == nil {
		err = protojson.UnmarshalOptions{AllowPartial: true}.Unmarshal(text, dynamicpb.NewMessage(kind))
	}
	if err != nil {
		return at(where, "%s cannot have this: %v", kind.FullName(), plainly(err))
	}
	return nil
}

// plainly returns what protojson says, without the place in a text that nobody has written.
func plainly(err error) error {
	text := strings.TrimLeft(strings.TrimPrefix(err.Error(), "proto:"), " \u00a0")
	if rest, ok := strings.CutPrefix(text, "syntax error "); ok {
		text = rest
	}
	if strings.HasPrefix(text, "(line ") {
		if _, rest, ok := strings.Cut(text, "): "); ok {
			text = rest
		}
	}
	return errors.New(text)
}
