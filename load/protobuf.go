package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"google.golang.org/grpc"
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
	file string
	dial func() (*grpc.ClientConn, error)
	// found are the files so far; nil before the first name is looked up.
	found *protoregistry.Files
}

func (r *run) types() *protobufTypes {
	return &protobufTypes{file: r.options.Descriptors, dial: r.dialGRPC}
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
	if t.file != "" {
		if t.found, err = readDescriptors(t.file); err != nil {
			return nil, err
		}
	} else if t.found, err = t.ask(ctx, name); err != nil {
		return nil, err
	}
	d, err = t.found.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil, at("", "nothing is called %s in %s", name, t.source())
	}
	return d, nil
}

func (t *protobufTypes) source() string {
	if t.file != "" {
		return t.file
	}
	return "the target's gRPC reflection"
}

func readDescriptors(file string) (*protoregistry.Files, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, at("", "--descriptors: %v", err)
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err = proto.Unmarshal(data, set); err == nil && len(set.File) == 0 {
		err = errors.New("it has no file")
	}
	var files *protoregistry.Files
	if err == nil {
		files, err = protodesc.NewFiles(set)
	}
	if err != nil {
		return nil, at("", "--descriptors: %s is no descriptor file: %v; make one with protoc --include_imports --descriptor_set_out", file, err)
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
	stream, err := reflection.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		return nil, fmt.Errorf("the target describes no protobuf by gRPC reflection (give --descriptors FILE): %w", err)
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
		return nil, fmt.Errorf("the target describes no protobuf by gRPC reflection (give --descriptors FILE): %w", err)
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
