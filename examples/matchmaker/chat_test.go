package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/chat"
	pb "github.com/dewpond/dewpond/examples/matchmaker/matchmakerpb"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

func (r *running) dial(t *testing.T, uid string) *websocket.Conn {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), "ws://"+r.HTTP+"/ws?uid="+uid, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseNow() })
	return c
}

func TestChat(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	seven, eight := r.dial(t, "7"), r.dial(t, "8")
	sendMessage(t, eight, &pb.Message{To: 9, Seq: 1, Text: "are you there?"}) // so that 8 is known to be connected
	receive(t, eight)

	sendMessage(t, seven, &pb.Message{To: 8, Seq: 41, Nonce: 5, Text: "hello"})
	ack := receive(t, seven).GetAck()
	if ack.GetSeq() != 41 || ack.GetId() == 0 {
		t.Errorf("%v", ack)
	}
	if d := receive(t, eight).GetDelivery(); d.GetId() != ack.GetId() || d.GetFrom() != 7 || d.GetText() != "hello" {
		t.Errorf("8 gets %v", d)
	}
	sendMessage(t, seven, &pb.Message{To: 8, Seq: 42, Nonce: 5, Text: "hello"}) // again, with the same nonce
	if again := receive(t, seven).GetAck(); again.GetId() != ack.GetId() || again.GetSeq() != 42 {
		t.Errorf("%v, want the id %d", again, ack.GetId())
	}
	for _, m := range []*pb.Message{{To: 0, Seq: 43, Text: "x"}, {To: 8, Seq: 43}} {
		sendMessage(t, seven, m)
		if e := receive(t, seven).GetError(); e.GetSeq() != 43 || e.GetText() == "" {
			t.Errorf("%v is answered with %v", m, e)
		}
	}
	if err := seven.Write(t.Context(), websocket.MessageBinary, []byte{0xff}); err != nil {
		t.Fatal(err)
	}
	if e := receive(t, seven).GetError(); !strings.Contains(e.GetText(), "matchmaker.v1.Message") {
		t.Errorf("what is no message is answered with %v", e)
	}
	sendMessage(t, seven, &pb.Message{To: 9, Seq: 44, Text: "the socket stays"})
	if receive(t, seven).GetAck().GetSeq() != 44 {
		t.Error("the socket does not stay")
	}
	_, text := r.ask(t, "GET", "/api/v1/messages?uid=8&with=7", "", 200)
	var stored []store.Message
	if err := json.Unmarshal([]byte(text), &stored); err != nil || len(stored) != 1 || stored[0].Text != "hello" {
		t.Errorf("stored: %s %v", text, err)
	}
	sendMessage(t, seven, &pb.Message{To: 8, Text: strings.Repeat("x", 5<<10)})
	if _, _, err := seven.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("a frame above 4 KB: %v, want 1009", err)
	}
	eight.CloseNow()
	r.nothingInUse(t)
}

// A second socket of a user closes the first, which has its answers by then.
func TestSecondSocket(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	first := r.dial(t, "7")
	sendMessage(t, first, &pb.Message{To: 8, Seq: 1, Text: "hi"})
	if receive(t, first).GetAck().GetSeq() != 1 {
		t.Error("no Ack")
	}
	second := r.dial(t, "7")
	if _, _, err := first.Read(t.Context()); websocket.CloseStatus(err) != chat.Replaced {
		t.Errorf("%v, want 4001", err)
	}
	sendMessage(t, second, &pb.Message{To: 8, Seq: 2, Text: "hi"})
	if receive(t, second).GetAck().GetSeq() != 2 {
		t.Error("the second does not work")
	}
	second.CloseNow()
	r.nothingInUse(t)
}
