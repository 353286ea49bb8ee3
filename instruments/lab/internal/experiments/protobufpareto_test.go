package experiments

import (
	"slices"
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestProtobufPareto(t *testing.T) {
	made := func(figure string, k8, k32, k128 float64) figures {
		return figures{"8 KB": {figure: k8}, "32 KB": {figure: k32}, "128 KB": {figure: k128}}
	}
	judges(t, "protobuf-pareto/throughput", 0.02, made("messages_per_sec", 7200, 10400, 10500), experiment.Reproduced)
	judges(t, "protobuf-pareto/throughput", 0.01, made("messages_per_sec", 10000, 10050, 10050), experiment.NotReproduced)
	judges(t, "protobuf-pareto/throughput", 0.4, made("messages_per_sec", 10000, 10400, 10500), experiment.CannotTell)
	judges(t, "protobuf-pareto/tail", 0.02, made("message_p99_ns", 48e6, 19e6, 18e6), experiment.Reproduced)
	judges(t, "protobuf-pareto/tail", 0.02, made("message_p99_ns", 48e6, 35e6, 18e6), experiment.DirectionOnly)
	judges(t, "protobuf-pareto/tail", 0.02, made("message_p99_ns", 20e6, 20e6, 20e6), experiment.NotReproduced)
	judges(t, "protobuf-pareto/more", 0.02, made("messages_per_sec", 7200, 10400, 10520), experiment.Reproduced)
	judges(t, "protobuf-pareto/more", 0.02, made("messages_per_sec", 7200, 10400, 20000), experiment.NotReproduced)
}

func TestParetoFront(t *testing.T) {
	m := experiment.MadeUp(0, figures{
		"small":  {"messages_per_sec": 5, "message_p99_ns": 9, "buffer_bytes": 1},
		"middle": {"messages_per_sec": 9, "message_p99_ns": 5, "buffer_bytes": 2},
		"worse":  {"messages_per_sec": 8, "message_p99_ns": 6, "buffer_bytes": 3},
	})
	if got := paretoFront(m, m.Cases()); !slices.Equal(got, []string{"middle", "small"}) {
		t.Errorf("the front is %q", got)
	}
}
