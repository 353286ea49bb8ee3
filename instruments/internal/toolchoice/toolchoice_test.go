package toolchoice_test

import (
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/internal/toolchoice"
)

func TestChoose(t *testing.T) {
	type need = toolchoice.Need
	for _, c := range []struct {
		need
		want string
	}{
		{need{Rate: 0, Protocol: "http/1.1", Agents: 1}, "wrk"},
		{need{Rate: 0, Protocol: "h2c", Agents: 1}, "h2load"},
		{need{Rate: 0, Protocol: "h2", Agents: 1}, "h2load"},
		{need{Rate: 500, Protocol: "http/1.1", Agents: 1}, "hey"},
		{need{Rate: 50_000, Protocol: "http/1.1", Agents: 1}, "wrk"},
		{need{Rate: 500_000, Protocol: "h2", Agents: 1}, "h2load"},
		{need{Rate: 500_000, Protocol: "http/1.1", Agents: 1}, "wrk"},
		{need{Rate: 500, Protocol: "h2c", Agents: 1}, "h2load"},
		{need{Rate: 500, Protocol: "h2", Agents: 1}, "h2load"},
		{need{Rate: 5000, Protocol: "http/1.1", Tail: true, Agents: 1}, "vegeta"},
		{need{Rate: 5000, Protocol: "h2c", Tail: true, Agents: 1}, "dewload"},
		{need{Rate: 5000, Protocol: "h2", Tail: true, Agents: 1}, "dewload"},
		{need{Rate: 5000, Protocol: "http/1.1", Tail: true, Agents: 3}, "dewload"},
		{need{Rate: 50_000, Protocol: "http/1.1", Tail: true, Agents: 1}, "dewload"},
		{need{Rate: 500, Protocol: "websocket", Agents: 1}, "dewload"},
		{need{Rate: 500, Protocol: "grpc", Agents: 1}, "ghz"},
		{need{Rate: 5000, Protocol: "grpc", Agents: 1}, "ghz"},
		{need{Rate: 5000, Protocol: "grpc", Tail: true, Agents: 1}, "dewload"},
		{need{Rate: 20_000, Protocol: "grpc", Session: true, Agents: 3}, "dewload"},
		{need{Rate: 20_000, Protocol: "grpc", Session: true, Agents: 1}, "dewload"},
		{need{Rate: 100, Protocol: "http/1.1", Session: true, Agents: 1}, "dewload"},
		{need{Protocol: "http/1.1", Agents: 5}, "dewload"},
		{need{Rate: 500, Protocol: "grpc", Agents: 2}, "dewload"},
		{need{Rate: 100, Protocol: "http/1.1", Script: true, Agents: 1}, "k6"},
		{need{Rate: 100, Protocol: "grpc", Script: true, Session: true, Agents: 1}, "k6"},
		{need{Rate: 100, Protocol: "h2c", Script: true, Agents: 1}, "dewload"},
	} {
		if a, err := toolchoice.Choose(c.need, nil); err != nil || a.Tool != c.want || a.Reason == "" || a.Measured {
			t.Errorf("%+v: %+v, %v, want %s", c.need, a, err, c.want)
		}
	}
	for _, n := range []need{{Protocol: "h3", Agents: 1}, {Rate: -1, Protocol: "h2", Agents: 1}, {Protocol: "h2"}} {
		if a, err := toolchoice.Choose(n, nil); err == nil {
			t.Errorf("%+v: %+v", n, a)
		}
	}
}

// TestMeasured has a machine whose limits were measured: they decide.
func TestMeasured(t *testing.T) {
	n := toolchoice.Need{Rate: 9000, Protocol: "http/1.1", Agents: 1}
	slow := toolchoice.Limits{"http/1.1": 2000, "h2c": 0}
	if a, err := toolchoice.Choose(n, slow); err != nil || a.Tool != "wrk" || a.Limit != 2000 || !a.Measured {
		t.Errorf("9000/s where 2000/s was measured: %+v, %v", a, err)
	}
	n.Tail = true
	if a, err := toolchoice.Choose(n, slow); err != nil || !strings.Contains(a.Reason, "with 5 machines or more: one generator makes about 2000 sessions") {
		t.Errorf("9000/s where 2000/s was measured, with its tail: %+v, %v", a, err)
	}
	n.Protocol = "h2"
	if a, err := toolchoice.Choose(n, slow); err != nil || a.Limit != 10_000 || a.Measured {
		t.Errorf("a limit that was not found: %+v, %v", a, err)
	}
}
