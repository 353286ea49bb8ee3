package load_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/dewpond/dewpond/instruments/load"
)

// order describes a service whose message has a field of each sort.
func order(t *testing.T) (file string) {
	const (
		text, number, message = descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_INT64, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
		one, many             = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	)
	field := func(n int32, name string, kind descriptorpb.FieldDescriptorProto_Type, label descriptorpb.FieldDescriptorProto_Label, of string) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{Name: &name, Number: &n, Type: &kind, Label: &label}
		if of != "" {
			f.TypeName = &of
		}
		return f
	}
	entry := func(name string, kind descriptorpb.FieldDescriptorProto_Type, of string) *descriptorpb.DescriptorProto {
		return &descriptorpb.DescriptorProto{
			Name: &name, Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
			Field: []*descriptorpb.FieldDescriptorProto{field(1, "key", text, one, ""), field(2, "value", kind, one, of)},
		}
	}
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(timestamppb.File_google_protobuf_timestamp_proto), {
		Name: proto.String("shop.proto"), Package: proto.String("shop"), Syntax: proto.String("proto3"), Dependency: []string{"google/protobuf/timestamp.proto"},
		MessageType: []*descriptorpb.DescriptorProto{
			{Name: proto.String("Item"), Field: []*descriptorpb.FieldDescriptorProto{field(1, "sku", text, one, ""), field(2, "how_many", number, one, "")}},
			{
				Name:       proto.String("Order"),
				NestedType: []*descriptorpb.DescriptorProto{entry("NotesEntry", text, ""), entry("ExtraEntry", message, ".shop.Item")},
				Field: []*descriptorpb.FieldDescriptorProto{
					field(1, "user_id", number, one, ""), field(2, "item", message, one, ".shop.Item"), field(3, "items", message, many, ".shop.Item"), field(4, "codes", number, many, ""),
					field(5, "notes", message, many, ".shop.Order.NotesEntry"), field(6, "extra", message, many, ".shop.Order.ExtraEntry"), field(7, "at", message, one, ".google.protobuf.Timestamp"),
				},
			},
		},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("Shop"), Method: []*descriptorpb.MethodDescriptorProto{{Name: proto.String("Buy"), InputType: proto.String(".shop.Order"), OutputType: proto.String(".shop.Item")}}}},
	}}}
	data, err := proto.Marshal(set)
	file = filepath.Join(t.TempDir(), "shop.pb")
	if err := errors.Join(err, os.WriteFile(file, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestMessages looks at messages before anything is sent: nobody listens at the target.
func TestMessages(t *testing.T) {
	file := order(t)
	type m = map[string]any
	for _, c := range []struct {
		json  any
		where string
		says  string // of a mistake
	}{
		{json: nil}, {json: m{}}, {json: "${uid}"}, {json: m{"at": "${uid}", "item": "${uid}", "codes": "${uid}", "notes": "${uid}", "items": []any{"${uid}"}}},
		{json: m{"userId": 1, "user_id": nil, "item": m{"sku": "a ${uid}", "howMany": "${uid}"}, "items": []any{m{"how_many": "3"}, m{}}, "codes": []any{1, "2", "${uid}"}, "notes": m{"a.b": "c", "d": "${uid}"}, "extra": m{"a": m{"sku": "b"}}, "at": "2026-01-02T03:04:05Z"}},
		{m{"userid": 1}, ".userid", `shop.Order has no field "userid": it has at, codes, extra, item, items, notes, userId`},
		{m{"userid": "${uid}"}, ".userid", `shop.Order has no field "userid"`},
		{m{"userId": "seven"}, ".userId", `shop.Order cannot have this: invalid value for int64 field userId: "seven"`},
		{m{"userId": m{}}, ".userId", "shop.Order cannot have this"},
		{m{"item": m{"name": 1}}, ".item.name", `shop.Item has no field "name": it has howMany, sku`},
		{m{"item": []any{}}, ".item", "shop.Order cannot have this"},
		{m{"items": m{"sku": "a"}}, ".items", "shop.Order cannot have this"},
		{m{"items": []any{m{"sku": "a"}, m{"sku": 1}}}, ".items[1].sku", "shop.Item cannot have this"},
		{m{"codes": []any{"${uid}", true}}, ".codes[1]", "shop.Order cannot have this"},
		{m{"notes": m{"a": 1}}, ".notes.a", "shop.Order cannot have this"},
		{m{"extra": m{"a": m{"b": 1}}}, ".extra.a.b", `shop.Item has no field "b"`},
		{m{"at": "yesterday"}, ".at", "shop.Order cannot have this"},
		{[]any{1}, "", "shop.Order cannot have this"},
	} {
		for place, do := range map[string]load.Action{
			"session[0].json":      load.Procedure{Method: "shop.Shop/Buy", JSON: c.json},
			"session[0].send.json": load.Socket{URL: "/", Send: load.Message{Protobuf: "shop.Order", JSON: c.json}},
		} {
			s := one("http://127.0.0.1:1", do)
			s.Data, s.Limits.Timeout = []load.Data{load.Integers("uid", 1, 2)}, time.Minute
			_, err := load.Run(t.Context(), s, load.Options{Descriptors: file})
			var invalid *load.InvalidError
			switch is := errors.As(err, &invalid); {
			case is != (c.says != ""):
				t.Errorf("%v: the error is %v", c.json, err)
			case is && (invalid.Where != place+c.where || !strings.HasPrefix(invalid.Problem, c.says) || strings.Contains(invalid.Problem, "line 1")):
				t.Errorf("%v: the error is %v, want %s%s: %s", c.json, err, place, c.where, c.says)
			}
		}
	}
}
