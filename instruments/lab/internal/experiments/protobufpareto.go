package experiments

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// protobufPareto decodes a stream of messages through read buffers of several sizes, and finds
// which sizes no other beats in throughput, tail and memory at once.
var protobufPareto = experiment.Experiment{
	ID:       "protobuf-pareto",
	Question: "How large should the pooled read buffer of a protobuf stream be?",
	Claims: []experiment.Claim{{
		ID: "protobuf-pareto/throughput", Text: "32 KB decode 10.4 thousand messages a second where 8 KB decode 7.2", Publication: sizing, Judge: judgeParetoThroughput, Reach: experiment.Reach{Timed: true, Holds: experiment.Standing{experiment.At("8 KB", "messages_per_sec"): experiment.At("512 B", "messages_per_sec")}, Fails: experiment.Standing{experiment.At("32 KB", "messages_per_sec"): experiment.At("8 KB", "messages_per_sec")}},
	}, {
		ID: "protobuf-pareto/tail", Text: "the P99 falls from 48.6 ms at 8 KB to 19.2 at 32 KB", Publication: sizing, Judge: judgeParetoTail, Reach: experiment.Reach{Timed: true, Holds: experiment.Standing{experiment.At("8 KB", "message_p99_ns"): experiment.At("512 B", "message_p99_ns"), experiment.At("32 KB", "message_p99_ns"): experiment.At("32 KB", "message_p50_ns")}, Fails: experiment.Standing{experiment.At("32 KB", "message_p99_ns"): experiment.At("8 KB", "message_p99_ns")}},
	}, {
		ID: "protobuf-pareto/more", Text: "128 KB bring hardly more than 32 KB: 10.52 thousand a second", Publication: sizing, Judge: judgeParetoMore, Reach: experiment.Reach{Timed: true, Holds: experiment.Standing{experiment.At("128 KB", "messages_per_sec"): experiment.At("32 KB", "messages_per_sec")}, Fails: experiment.Standing{experiment.At("32 KB", "messages_per_sec"): experiment.At("512 B", "messages_per_sec")}},
	}},
	Cases: []string{"512 B", "2 KB", "8 KB", "32 KB", "128 KB", "512 KB"},
	Each:  500 * time.Millisecond,
	Run:   runProtobufPareto,
	Plots: []experiment.Plot{
		{Figure: "messages_per_sec", Title: "Messages a second", Note: "of about 6 KB; more is better"},
		{Figure: "message_p99_ns", Title: "P99 of reading and decoding one message"},
		{More: "messages_per_sec", Less: "message_p99_ns", Title: "The Pareto front", Note: "P99 by messages a second: the best is below on the right", X: "per_sec", Y: "ns"},
		{Figure: "buffer_bytes", Title: "Memory of the buffers that the pool has made"},
	},
}

// A stream repeats one message, each after its length.
type stream struct {
	record []byte
	at     int
}

func (s *stream) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], s.record[s.at:])
		n, s.at = n+k, (s.at+k)%len(s.record)
	}
	return n, nil
}

func runProtobufPareto(r *experiment.Run) error {
	size := 512
	if kilobytes, ok := strings.CutSuffix(r.Case, " KB"); ok {
		n, err := strconv.Atoi(kilobytes)
		if err != nil {
			return err
		}
		size = n << 10
	}
	fields := map[string]any{}
	for i := range 60 {
		fields[fmt.Sprintf("field%02d", i)] = strings.Repeat("x", 80)
	}
	message, err := structpb.NewStruct(fields)
	if err != nil {
		return err
	}
	body, err := proto.Marshal(message)
	if err != nil {
		return err
	}
	record := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	var made atomic.Int64
	pool := &sync.Pool{New: func() any { made.Add(1); b := make([]byte, size); return &b }}
	times := kit.NewRecorder()
	var messages, reads atomic.Int64
	began := kit.Now()
	end := began + r.Span(450*time.Millisecond)
	// Each stream has a buffer only while there is something in it.
	decode := func(g int) error {
		connection, err := newLoop(&stream{record: record})
		if err != nil {
			return err
		}
		defer connection.Close()
		reader := &bufferedReader{from: connection, pool: pool}
		defer func() { reads.Add(int64(reader.reads)) }()
		var head [4]byte
		var whole bytes.Buffer
		for n := 0; n == 0 || kit.Now() < end; n++ {
			start := kit.Now()
			if _, err := io.ReadFull(reader, head[:]); err != nil {
				return err
			}
			whole.Reset()
			if _, err := io.CopyN(&whole, reader, int64(binary.BigEndian.Uint32(head[:]))); err != nil {
				return err
			}
			got := new(structpb.Struct)
			if err := proto.Unmarshal(whole.Bytes(), got); err != nil {
				return err
			}
			times.Record(g, kit.Now()-start)
			messages.Add(1)
		}
		return nil
	}
	failed := make([]error, paretoStreams)
	var wg sync.WaitGroup
	for g := range failed {
		wg.Go(func() { failed[g] = decode(g) })
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	n := float64(messages.Load())
	r.Set("messages_per_sec", n/(kit.Now()-began).Seconds())
	r.Set("reads_per_op", float64(reads.Load())/n)
	r.Set("buffer_bytes", float64(made.Load())*float64(size))
	h := times.Take()
	setPercentiles(r, "message", h)
	return nil
}

// paretoStreams are read at once.
const paretoStreams = 16

// paretoFront returns the cases that no other beats in one of throughput, tail and memory without
// being beaten in another.
func paretoFront(m experiment.Measured, cases []string) []string {
	var front []string
	for _, a := range cases {
		beaten := false
		for _, b := range cases {
			better := m.Median(b, "messages_per_sec") >= m.Median(a, "messages_per_sec") &&
				m.Median(b, "message_p99_ns") <= m.Median(a, "message_p99_ns") && m.Median(b, "buffer_bytes") <= m.Median(a, "buffer_bytes")
			beaten = beaten || a != b && better
		}
		if !beaten {
			front = append(front, a)
		}
	}
	return front
}

// judgePareto compares two sizes.
func judgePareto(m experiment.Measured, name, of, to string, judge func(of, to experiment.Value) (experiment.Verdict, string)) experiment.Finding {
	a, b := experiment.At(of, name), experiment.At(to, name)
	if f, lacking := m.Lacking(a, b); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s with %s, %s with %s", m.Text(a), of, m.Text(b), to),
		Control:  "the sizes that no other beats at once in throughput, P99 and memory: " + strings.Join(paretoFront(m, m.Cases()), ", "),
		Do:       "Take the smallest buffer that holds a typical message, and look at the front of your own rows.",
	}
	f.Verdict, f.Why = judge(a, b)
	return f
}

func judgeParetoThroughput(m experiment.Measured) experiment.Finding {
	return judgePareto(m, "messages_per_sec", "32 KB", "8 KB", func(a, b experiment.Value) (experiment.Verdict, string) {
		return experiment.Compare(m.Ratio(a, b), 10.4/7.2)
	})
}

func judgeParetoTail(m experiment.Measured) experiment.Finding {
	return judgePareto(m, "message_p99_ns", "32 KB", "8 KB", func(a, b experiment.Value) (experiment.Verdict, string) {
		return experiment.Compare(m.Ratio(a, b), 19.2/48.6)
	})
}

func judgeParetoMore(m experiment.Measured) experiment.Finding {
	return judgePareto(m, "messages_per_sec", "128 KB", "32 KB", func(a, b experiment.Value) (experiment.Verdict, string) {
		return experiment.Equal(m.Ratio(a, b), 0.15)
	})
}
