package swarm

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/dewpond/dewpond/instruments/internal/matchmaker"
)

// TestDescriptorsTravel wants an agent to have the descriptors of the scenario.
func TestDescriptorsTravel(t *testing.T) {
	data, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{matchmaker.Descriptor()}})
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{Name: "s.yaml", Files: map[string][]byte{"d.pb": data}, Text: "{target: http://h, descriptors: d.pb, arrivals: {rate: 1, duration: 1s}, session: [{name: a, get: /}]}"}
	if s, _, err := p.Scenario(); err != nil || !bytes.Equal(s.Descriptors, data) {
		t.Errorf("%d bytes came of %d: %v", len(s.Descriptors), len(data), err)
	}
}

// TestAddress wants the port that a scheme stands for, which an agent must be allowed to ask.
func TestAddress(t *testing.T) {
	for url, want := range map[string]string{
		"http://h/": "h:80", "https://h/": "h:443", "ws://h/ws": "h:80", "wss://h/ws": "h:443", "grpc://h/a.B/C": "h:80", "grpcs://h/a.B/C": "h:443", "ws://h:7/": "h:7",
	} {
		p := Plan{Name: url}
		if got, err := p.Address(); err != nil || got != want {
			t.Errorf("%s is asked at %q, %v, want %q", url, got, err, want)
		}
	}
}
