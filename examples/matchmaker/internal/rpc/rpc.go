// Package rpc is the service over gRPC, with health and reflection.
package rpc

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/store"
	pb "github.com/dewpond/dewpond/examples/matchmaker/matchmakerpb"
)

// New returns a server of a service.
func New(s *service.Service) *grpc.Server {
	g := grpc.NewServer()
	pb.RegisterMatchmakerServer(g, &server{service: s})
	grpc_health_v1.RegisterHealthServer(g, health.NewServer())
	reflection.Register(g)
	return g
}

type server struct {
	pb.UnimplementedMatchmakerServer
	service *service.Service
}

// Match implements [pb.MatchmakerServer]. The reply has copies, because gRPC encodes it later.
func (s *server) Match(ctx context.Context, q *pb.MatchRequest) (reply *pb.MatchReply, err error) {
	var t service.Times
	err = s.service.Match(ctx, q.Uid, &t, func(m service.Match) error {
		reply = &pb.MatchReply{Uid: m.UID, Region: m.Region, Degraded: m.Degraded}
		for _, c := range m.Candidates {
			reply.Candidates = append(reply.Candidates, &pb.Candidate{
				Uid: c.UID, Name: c.Name, Age: c.Age, Score: c.Score, Photo: fmt.Sprintf("/img/u/%d_480p.jpg", c.UID),
			})
		}
		return nil
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		err = status.Errorf(codes.NotFound, "there is no such user: uids are 1 to %d", store.Users)
	case err != nil && ctx.Err() == nil:
		err = status.Errorf(codes.Unavailable, "try again in a second: %v", err)
	}
	return reply, err
}
