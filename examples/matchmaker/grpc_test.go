package main

import (
	"encoding/json"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	pb "github.com/dewpond/dewpond/examples/matchmaker/matchmakerpb"
)

// gRPC answers with the same match as HTTP, on its own port and on HTTP's, with health and
// reflection.
func TestGRPC(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	_, text := r.ask(t, "GET", "/api/v1/matches?uid=7", "", 200)
	var want struct {
		Region     string
		Candidates []struct {
			UID   int64
			Name  string
			Age   int32
			Score float64
			Photo string
		}
	}
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{r.GRPC, r.HTTP} {
		c, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got, err := pb.NewMatchmakerClient(c).Match(t.Context(), &pb.MatchRequest{Uid: 7})
		if err != nil || got.Uid != 7 || got.Region != want.Region || len(got.Candidates) != len(want.Candidates) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
		for i, w := range want.Candidates {
			if g := got.Candidates[i]; g.Uid != w.UID || g.Name != w.Name || g.Age != w.Age || g.Score != w.Score || g.Photo != w.Photo {
				t.Errorf("candidate %d is %v, want %v", i, g, w)
			}
		}
		if _, err := pb.NewMatchmakerClient(c).Match(t.Context(), &pb.MatchRequest{}); status.Code(err) != codes.NotFound {
			t.Errorf("an unknown user: %v", err)
		}
		h, err := grpc_health_v1.NewHealthClient(c).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
		if err != nil || h.Status != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("health: %v, %v", h, err)
		}
		if names := reflected(t, c); !slices.Contains(names, "matchmaker.v1.Matchmaker") {
			t.Errorf("reflection: %v", names)
		}
	}
}

// reflected lists the services of a server.
func reflected(t *testing.T, c *grpc.ClientConn) (names []string) {
	t.Helper()
	s, err := grpc_reflection_v1.NewServerReflectionClient(c).ServerReflectionInfo(t.Context())
	if err == nil {
		err = s.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}})
	}
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range a.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	if err := s.CloseSend(); err != nil {
		t.Error(err)
	}
	for err == nil { // until the server has ended it
		_, err = s.Recv()
	}
	return names
}
