// Package matchmaker is a small target for the tests of load: it speaks the paths of
// scenariofile's example on HTTP/1.1, h2c, HTTP/2 over TLS, WebSocket and gRPC, all on one port.
package matchmaker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// A Target is a server, and what it has been asked.
type Target struct {
	*httptest.Server
	// Lonely has no candidates for anybody.
	Lonely bool

	mu        sync.Mutex
	matches   int
	uids      map[float64]int
	paths     map[string]int
	marks     map[string]int
	protocols map[string]int
	messages  []string
}

// Start starts a target, with TLS or without. configure may change its server before it starts.
// The caller closes it.
func Start(secure bool, configure ...func(*httptest.Server)) *Target {
	t := &Target{uids: map[float64]int{}, paths: map[string]int{}, marks: map[string]int{}, protocols: map[string]int{}}
	calls := t.grpc()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/match", t.match)
	mux.HandleFunc("GET /api/v1/recommendations", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[1,2,3]") })
	mux.HandleFunc("GET /img/u/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/jpeg")
		w.Write(make([]byte, 1000))
	})
	mux.HandleFunc("GET /ws", t.socket)
	mux.HandleFunc("GET /long", func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1<<20)) })
	t.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.count(r)
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			calls.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	t.Config.Protocols = &protocols
	t.Config.ErrorLog = log.New(io.Discard, "", 0) // tests break connections on purpose
	for _, c := range configure {
		c(t.Server)
	}
	if secure {
		t.EnableHTTP2 = true
		t.StartTLS()
	} else {
		t.Server.Start()
	}
	return t
}

func (t *Target) count(r *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paths[r.URL.Path]++
	t.marks[r.Header.Get("Dewpond-Run")]++
	t.protocols[r.Proto]++
}

func (t *Target) match(w http.ResponseWriter, r *http.Request) {
	var q struct{ UID any }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	uid, ok := q.UID.(float64)
	if !ok {
		http.Error(w, "uid is no number", http.StatusBadRequest)
		return
	}
	t.mu.Lock()
	t.matches++
	t.uids[uid]++
	t.mu.Unlock()
	if t.Lonely {
		fmt.Fprint(w, `{"candidates":[]}`)
		return
	}
	fmt.Fprint(w, `{"candidates":[{"uid":"a"},{"uid":"b"},{"uid":"c"},{"uid":"d"}]}`)
}

// socket sends back what it gets, and closes where it is asked to.
func (t *Target) socket(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	kind, message, err := c.Read(r.Context())
	if err != nil {
		return
	}
	t.mu.Lock()
	t.messages = append(t.messages, string(message))
	t.mu.Unlock()
	if string(message) == "go away" {
		c.Close(websocket.StatusPolicyViolation, "you said so")
		return
	}
	if c.Write(r.Context(), kind, message) == nil {
		c.Read(r.Context()) // until the other side closes
	}
}

// Uids returns how often each uid has asked for a match.
func (t *Target) Uids() map[float64]int { t.mu.Lock(); defer t.mu.Unlock(); return t.uids }

// Requests returns how many there were.
func (t *Target) Requests() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.paths {
		n += one
	}
	return n
}

// Paths returns how often each path was asked for.
func (t *Target) Paths() map[string]int { t.mu.Lock(); defer t.mu.Unlock(); return t.paths }

// Marks returns how many requests had each value of Dewpond-Run.
func (t *Target) Marks() map[string]int { t.mu.Lock(); defer t.mu.Unlock(); return t.marks }

// Protocols returns how many requests came by each version of HTTP.
func (t *Target) Protocols() map[string]int { t.mu.Lock(); defer t.mu.Unlock(); return t.protocols }

// Messages returns what came by WebSocket.
func (t *Target) Messages() []string { t.mu.Lock(); defer t.mu.Unlock(); return t.messages }

// grpc returns a server of matchmaker.v1.Matchmaker with reflection.
func (t *Target) grpc() *grpc.Server {
	files := new(protoregistry.Files)
	file, err := protodesc.NewFile(Descriptor(), files)
	if err == nil {
		err = files.RegisterFile(file)
	}
	if err != nil {
		panic(err)
	}
	service := file.Services().Get(0)
	s := grpc.NewServer()
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: string(service.FullName()),
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Match", Handler: t.call(service.Methods().Get(0))}},
	}, t)
	reflectionv1.RegisterServerReflectionServer(s, reflection.NewServerV1(reflection.ServerOptions{Services: s, DescriptorResolver: files}))
	return s
}

func (t *Target) call(m protoreflect.MethodDescriptor) grpc.MethodHandler {
	return func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		in := dynamicpb.NewMessage(m.Input())
		if err := decode(in); err != nil {
			return nil, err
		}
		out := dynamicpb.NewMessage(m.Output())
		list := out.Mutable(m.Output().Fields().ByName("uids")).List()
		for _, uid := range []string{"a", "b"} {
			list.Append(protoreflect.ValueOfString(uid))
		}
		return out, nil
	}
}

// Descriptor describes the package matchmaker.v1.
func Descriptor() *descriptorpb.FileDescriptorProto {
	field := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type, label descriptorpb.FieldDescriptorProto_Label) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{Name: &name, JsonName: &name, Number: &number, Type: &kind, Label: &label}
	}
	const (
		text, number = descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_INT64
		one, many    = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	)
	return &descriptorpb.FileDescriptorProto{
		Name: proto.String("matchmaker/v1/matchmaker.proto"), Package: proto.String("matchmaker.v1"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			{Name: proto.String("Message"), Field: []*descriptorpb.FieldDescriptorProto{field("to", 1, text, one), field("seq", 2, number, one), field("text", 3, text, one)}},
			{Name: proto.String("MatchRequest"), Field: []*descriptorpb.FieldDescriptorProto{field("uid", 1, number, one)}},
			{Name: proto.String("MatchReply"), Field: []*descriptorpb.FieldDescriptorProto{field("uids", 1, text, many)}},
		},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("Matchmaker"), Method: []*descriptorpb.MethodDescriptorProto{
			{Name: proto.String("Match"), InputType: proto.String(".matchmaker.v1.MatchRequest"), OutputType: proto.String(".matchmaker.v1.MatchReply")},
		}}},
	}
}
