package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// protobufTypes are the messages and services that a scenario names: of a file, or as the target
// describes them.
type protobufTypes struct {
	file   string
	set    []byte // of the scenario
	dial   func() (*grpc.ClientConn, error)
	header metadata.MD // that the target is asked with
	// found are the files so far; nil before the first name is looked up.
	found *protoregistry.Files
}

// types returns what a step may name. The target is asked as the step asks it.
func (r *run) types(h *headers) *protobufTypes {
	return &protobufTypes{
		file: r.options.Descriptors, set: r.Descriptors, header: metadataOf(h.fixed),
		dial: func() (*grpc.ClientConn, error) { return r.dialGRPC(h.plainHost(r.plan)) },
	}
}

func (t *protobufTypes) message(ctx context.Context, name string) (protoreflect.MessageDescriptor, error) {
	d, err := t.find(ctx, name)
	if err != nil {
		return nil, err
	}
	m, ok := d.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, at("", "%s is no protobuf message", name)
	}
	return m, nil
}

// method returns what "package.Service/Method" names.
func (t *protobufTypes) method(ctx context.Context, name string) (protoreflect.MethodDescriptor, error) {
	service, method, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	d, err := t.find(ctx, service)
	if err != nil {
		return nil, err
	}
	s, ok := d.(protoreflect.ServiceDescriptor)
	if !ok {
		return nil, at("", "%s is no gRPC service", service)
	}
	m := s.Methods().ByName(protoreflect.Name(method))
	if m == nil {
		var names []string
		for i := range s.Methods().Len() {
			names = append(names, string(s.Methods().Get(i).Name()))
		}
		return nil, at("", "%s has no method %q: it has %s", service, method, strings.Join(names, ", "))
	}
	if m.IsStreamingClient() || m.IsStreamingServer() {
		return nil, at("", "%s streams: dewload makes unary calls only", name)
	}
	return m, nil
}

func (t *protobufTypes) find(ctx context.Context, name string) (d protoreflect.Descriptor, err error) {
	switch {
	case t.file != "":
		t.found, err = readDescriptors(t.file)
	case len(t.set) > 0:
		t.found, err = parseDescriptors(t.set)
	default:
		t.found, err = t.ask(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	d, err = t.found.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil, at("", "nothing is called %s in %s", name, t.source())
	}
	return d, nil
}

func (t *protobufTypes) source() string {
	switch {
	case t.file != "":
		return t.file
	case len(t.set) > 0:
		return "the scenario's descriptors"
	}
	return "the target's gRPC reflection"
}

func readDescriptors(file string) (*protoregistry.Files, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, at("", "--descriptors: %v", err)
	}
	files, err := parseDescriptors(data)
	if err != nil {
		return nil, at("", "--descriptors: %s: %v", file, err)
	}
	return files, nil
}

// parseDescriptors reads what a descriptor file has.
func parseDescriptors(data []byte) (*protoregistry.Files, error) {
	set := &descriptorpb.FileDescriptorSet{}
	err := proto.Unmarshal(data, set)
	if err == nil && len(set.File) == 0 {
		err = errors.New("it has no file")
	}
	var files *protoregistry.Files
	if err == nil {
		files, err = protodesc.NewFiles(set)
	}
	if err != nil {
		return nil, fmt.Errorf("it is no descriptor file: %w; make one with protoc --include_imports --descriptor_set_out", err)
	}
	return files, nil
}

// ask asks the target for the file that has the name, and for all that the file imports.
func (t *protobufTypes) ask(ctx context.Context, name string) (*protoregistry.Files, error) {
	conn, err := t.dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	stream, err := reflection.NewServerReflectionClient(conn).ServerReflectionInfo(metadata.NewOutgoingContext(ctx, t.header))
	if err != nil {
		return nil, fmt.Errorf("the target describes no protobuf by gRPC reflection (give --descriptors FILE, or descriptors in the scenario): %w", err)
	}
	set := &descriptorpb.FileDescriptorSet{}
	have := map[string]bool{}
	missing := []*reflection.ServerReflectionRequest{{MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: name}}}
	for len(missing) > 0 {
		question := missing[0]
		missing = missing[1:]
		if err = stream.Send(question); err != nil {
			break
		}
		var answer *reflection.ServerReflectionResponse
		if answer, err = stream.Recv(); err != nil {
			break
		}
		if refused := answer.GetErrorResponse(); refused != nil {
			return nil, at("", "%s is unknown to the target's gRPC reflection: %s", name, refused.ErrorMessage)
		}
		for _, raw := range answer.GetFileDescriptorResponse().GetFileDescriptorProto() {
			file := &descriptorpb.FileDescriptorProto{}
			if err := proto.Unmarshal(raw, file); err != nil {
				return nil, err
			}
			if !have[file.GetName()] {
				have[file.GetName()] = true
				set.File = append(set.File, file)
			}
		}
		if len(missing) == 0 {
			missing = imports(set, have)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the target describes no protobuf by gRPC reflection (give --descriptors FILE, or descriptors in the scenario): %w", err)
	}
	return protodesc.NewFiles(set)
}

// imports returns the questions for the files that others import and that are not there.
func imports(set *descriptorpb.FileDescriptorSet, have map[string]bool) []*reflection.ServerReflectionRequest {
	var missing []*reflection.ServerReflectionRequest
	for _, file := range set.File {
		for _, name := range file.Dependency {
			if !have[name] {
				have[name] = true // asked for; NewFiles fails if it does not come
				missing = append(missing, &reflection.ServerReflectionRequest{
					MessageRequest: &reflection.ServerReflectionRequest_FileByFilename{FileByFilename: name},
				})
			}
		}
	}
	return missing
}
