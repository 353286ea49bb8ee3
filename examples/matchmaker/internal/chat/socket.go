package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/protobuf/proto"

	"github.com/dewpond/dewpond"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/sessionlog"
	pb "github.com/dewpond/dewpond/examples/matchmaker/matchmakerpb"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// A socket is one user's. One goroutine reads it and one writes it.
type socket struct {
	hub  *Hub
	uid  int64
	conn *websocket.Conn
	wake chan struct{} // the writer looks again

	turns turns // the reader's

	handling sync.Mutex // held from a message's arrival until its answer is queued

	mu     sync.Mutex // held for a change of what follows
	queue  []dewpond.Lease
	code   websocket.StatusCode // not 0: close with it when the queue is empty
	reason string
	ended  bool
}

// accepting has pings and pongs take turns too.
func (s *socket) accepting() *websocket.AcceptOptions {
	return &websocket.AcceptOptions{
		OnPingReceived: func(ctx context.Context, _ []byte) bool { return s.turns.wait(ctx) == nil },
		OnPongReceived: func(ctx context.Context, _ []byte) { s.turns.wait(ctx) },
	}
}

// read handles messages until the socket closes.
func (s *socket) read(ctx context.Context) {
	for s.turns.wait(ctx) == nil && s.readOne(ctx) == nil {
	}
}

// readOne handles a message. It waits for one for as long as it takes, but not for the rest of it.
func (s *socket) readOne(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	kind, r, err := s.conn.Reader(ctx)
	if err != nil {
		return err
	}
	late := time.AfterFunc(cmp.Or(s.hub.Within, 2*time.Second), cancel)
	frame, err := s.hub.Pool.ReadAll(r)
	defer s.hub.Pool.Put(frame)
	if late.Stop(); err != nil { // too long among them: 1009 is sent
		return err
	}
	s.handle(ctx, kind, frame)
	return nil
}

func (s *socket) handle(ctx context.Context, kind websocket.MessageType, frame []byte) {
	s.handling.Lock()
	defer s.handling.Unlock()
	begun := time.Now()
	var m pb.Message
	if kind != websocket.MessageBinary || proto.Unmarshal(frame, &m) != nil {
		s.refuse(0, "this is no matchmaker.v1.Message: send one in a binary frame")
		return
	}
	if m.Text == "" {
		s.refuse(m.Seq, "the message has no text")
		return
	}
	id, err := s.hub.Messages.PutMessage(ctx, store.Message{From: s.uid, To: m.To, Seq: m.Seq, Nonce: m.Nonce, Text: m.Text})
	switch {
	case errors.Is(err, store.ErrNoRecipient):
		s.refuse(m.Seq, "there is no such user: to is a uid")
		return
	case err != nil:
		s.refuse(m.Seq, "the message is not stored: send it again with the same nonce")
		return
	}
	s.hub.stored.Add(1)
	ack := s.hub.frame(&pb.Frame{Kind: &pb.Frame_Ack{Ack: &pb.Ack{Seq: m.Seq, Id: id}}})
	size := ack.Len()
	s.push(ack)
	s.hub.Log.Write(sessionlog.Request{
		Begun: begun, First: time.Since(begun), Protocol: "websocket", Path: fmt.Sprintf("/ws?uid=%d", s.uid), UID: s.uid,
		Status: http.StatusSwitchingProtocols, Sent: int64(len(frame)), Received: int64(size), Body: frame,
	})
	if to := s.hub.of(m.To); to != nil {
		if to.push(s.hub.frame(&pb.Frame{Kind: &pb.Frame_Delivery{Delivery: &pb.Delivery{Id: id, From: s.uid, Text: m.Text}}})) {
			s.hub.delivered.Add(1)
		} else {
			s.hub.dropped.Add(1)
		}
	}
}

func (s *socket) refuse(seq int64, text string) {
	s.hub.refused.Add(1)
	s.push(s.hub.frame(&pb.Frame{Kind: &pb.Frame_Error{Error: &pb.Error{Seq: seq, Text: text}}}))
}

// frame encodes a frame into a block. The caller owns it.
func (h *Hub) frame(f *pb.Frame) dewpond.Lease {
	l := h.Pool.Lease(proto.Size(f))
	if b, err := (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend(l.Bytes()[:0], f); err != nil || len(b) != l.Len() {
		panic("chat: a frame is encoded in another size than it has") // its text is valid, or it would not have been decoded
	}
	return l
}

// push queues a frame, which the socket owns then, and reports whether it will be sent.
func (s *socket) push(l dewpond.Lease) bool {
	s.mu.Lock()
	full := s.ended || len(s.queue) >= mostQueued
	if !full {
		s.queue = append(s.queue, l)
	}
	s.mu.Unlock()
	if full {
		l.Release()
		return false
	}
	s.look()
	return true
}

func (s *socket) look() {
	select {
	case s.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// goodbye closes the socket when what was read has its answer.
func (s *socket) goodbye(code websocket.StatusCode, reason string) {
	s.handling.Lock()
	defer s.handling.Unlock()
	s.mu.Lock()
	s.code, s.reason = code, reason
	s.mu.Unlock()
	s.look()
}

// end has the writer return, and gives back what it has not sent.
func (s *socket) end() {
	s.mu.Lock()
	s.ended = true
	queue := s.queue
	s.queue = nil
	s.mu.Unlock()
	for _, l := range queue {
		l.Release()
	}
	s.look()
}

// write sends what is queued until the socket ends.
func (s *socket) write() {
	for range s.wake {
		for {
			s.mu.Lock()
			var next dewpond.Lease
			some := len(s.queue) > 0
			if some {
				next = s.queue[0]
				s.queue = s.queue[1:]
			}
			ended, code, reason := s.ended, s.code, s.reason
			s.mu.Unlock()
			switch {
			case ended && !some:
				return
			case !some && code != 0:
				s.conn.Close(code, reason) // and the reader ends
				return
			}
			if !some {
				break
			}
			s.send(next)
		}
	}
}

func (s *socket) send(l dewpond.Lease) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if s.conn.Write(ctx, websocket.MessageBinary, l.Bytes()) != nil {
		s.conn.CloseNow() // and the reader ends
	}
	l.Release()
}
