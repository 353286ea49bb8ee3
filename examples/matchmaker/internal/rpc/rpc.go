// Package rpc is the service over gRPC, with health and reflection.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/sessionlog"
	pb "github.com/dewpond/dewpond/examples/matchmaker/matchmakerpb"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// mostStreams is how many calls a connection has at once, those among them that the client has
// taken back and that are not over; mostMessage bounds a message, of which the longest are a few
// hundred bytes.
const (
	mostStreams = 250
	mostMessage = 64 << 10
)

// New returns a server of a service, and what says whether it serves. The log may be nil.
func New(s *service.Service, log *sessionlog.Log) (*grpc.Server, *health.Server) {
	g := grpc.NewServer(grpc.MaxConcurrentStreams(mostStreams), grpc.MaxRecvMsgSize(mostMessage), grpc.ConnectionTimeout(10*time.Second))
	pb.RegisterMatchmakerServer(g, &server{service: s, log: log})
	h := health.NewServer()
	grpc_health_v1.RegisterHealthServer(g, h)
	reflection.Register(g)
	return g, h
}

type server struct {
	pb.UnimplementedMatchmakerServer
	service *service.Service
	log     *sessionlog.Log
}

// Match implements [pb.MatchmakerServer]. The reply has copies, because gRPC encodes it later.
func (s *server) Match(ctx context.Context, q *pb.MatchRequest) (reply *pb.MatchReply, err error) {
	defer s.note(time.Now(), q, &reply)
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
		service.Tell(pb.Matchmaker_Match_FullMethodName, err)
		err = status.Error(codes.Unavailable, "try again in a second: what the service stands on does not answer")
	}
	return reply, err
}

// note has the log a line of a call.
func (s *server) note(begun time.Time, q *pb.MatchRequest, reply **pb.MatchReply) {
	if s.log == nil {
		return
	}
	body, _ := proto.Marshal(q) // it was decoded
	s.log.Write(sessionlog.Request{
		Begun: begun, Protocol: "grpc", Path: pb.Matchmaker_Match_FullMethodName, UID: q.Uid,
		Sent: int64(len(body)), Received: int64(proto.Size(*reply)), Body: body,
	})
}
