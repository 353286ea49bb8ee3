package main

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	pb "github.com/dewpond/dewpond/examples/matchmaker/matchmakerpb"
	"github.com/dewpond/dewpond/load"
	"github.com/dewpond/dewpond/load/scenariofile"
)

var update = flag.Bool("update", false, "rewrite session.yaml and session.pb from what they are made of")

// scenario and descriptors are the session of the users, and what its messages are.
const scenario, descriptors = "session.yaml", "session.pb"

// withDescriptors is the line that session.yaml has beside dewload's own example.
const withDescriptors = "descriptors: session.pb                # its messages, for where the target has no gRPC reflection, as behind a proxy\n"

// The session is dewload's example, and its descriptors are those of the service.
func TestDescriptors(t *testing.T) {
	want := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(pb.File_matchmaker_proto)}}
	text := strings.Replace(scenariofile.Example, "data:\n", withDescriptors+"data:\n", 1)
	if *update {
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{descriptors: data, scenario: []byte(text)} {
			if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := &descriptorpb.FileDescriptorSet{}
	data, err := os.ReadFile(descriptors)
	if err == nil {
		err = proto.Unmarshal(data, got)
	}
	if err != nil || !proto.Equal(got, want) {
		t.Errorf("%s is not what matchmakerpb has (%v): go test -run TestDescriptors -update", descriptors, err)
	}
	if is, err := os.ReadFile(scenario); err != nil || string(is) != text {
		t.Errorf("%s is not dewload's example with descriptors (%v): go test -run TestDescriptors -update", scenario, err)
	}
}

// The session runs through a reverse proxy that speaks HTTP/1.1 to the service, and has no gRPC
// reflection then.
func TestSessionBehindProxy(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	proxy := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: r.HTTP}))
	proxy.Config.Protocols = new(http.Protocols)
	proxy.Config.Protocols.SetHTTP1(true)
	proxy.Config.Protocols.SetUnencryptedHTTP2(true)
	proxy.Start()
	defer proxy.Close()
	f, err := scenariofile.Read(scenario)
	if err != nil {
		t.Fatal(err)
	}
	s := f.Scenario
	s.Target, s.Thresholds, s.Abort = proxy.URL, nil, load.Abort{}
	s.Arrivals.Rate, s.Arrivals.Warmup, s.Arrivals.Duration = 20, 0, time.Second
	s.Limits.Timeout = time.Minute
	for i, step := range s.Session {
		if socket, ok := step.Do.(load.Socket); ok {
			socket.Within = time.Minute
			s.Session[i].Do = socket
		}
	}
	result, err := load.Run(t.Context(), s, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Failed > 0 || result.Finished == 0 {
		t.Errorf("%d of %d sessions failed: %v", result.Failed, result.Offered, result.Messages)
	}
}
