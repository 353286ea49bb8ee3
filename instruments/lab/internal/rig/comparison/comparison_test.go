package comparison

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/load"

	"github.com/dewpond/dewpond/examples/matchmaker/account"
	"github.com/dewpond/dewpond/instruments/lab/internal/rig/variant"
)

const (
	users = 64
	asked = 20_000 // requests of a round
)

// made is a round of a service that answers rate requests a second.
func made(t *testing.T, name string, rate float64, change func(r *Round)) Round {
	t.Helper()
	mean := time.Duration(users / rate * 1e9)
	r := Round{
		Variant: name, Closed: results(t, mean, asked), Open: results(t, mean/4, asked),
		InClosed: account.Window{Requests: asked, ScorerRequests: asked, NewConns: asked / 2, Cycles: 20, Bytes: asked * 9000, Allocs: asked * 90, GCShare: 0.1, PeakRSS: 70 << 20},
		InOpen:   account.Window{Requests: asked, ScorerRequests: asked, Cycles: 20, Bytes: asked * 9000, Allocs: asked * 90, GCShare: 0.1, PeakRSS: 72 << 20},
	}
	r.InClosed.Store.Made, r.InClosed.Store.Waited = asked/4, asked/10
	r.Closed.Seconds = asked / rate
	if change != nil {
		change(&r)
	}
	return r
}

// results are n requests that all took as long.
func results(t *testing.T, each time.Duration, n int64) load.Result {
	t.Helper()
	h := kit.NewRecorder().Take()
	if err := h.RecordValues(int64(each), n); err != nil {
		t.Fatal(err)
	}
	b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	p := float64(each)
	times := &load.Times{Mean: p, P50: &p, P99: &p, P999: &p, Samples: n, Histogram: b}
	return load.Result{
		Offered: uint64(n), Finished: uint64(n), Seconds: 1,
		Session: load.Part{Name: "session", Requests: uint64(n), Response: times, Service: times, Lag: &load.Times{}, Waiting: &load.Times{}, FailedResponse: &load.Times{}},
	}
}

// report makes rounds whose rates differ from round to round, as a machine's do.
func report(t *testing.T, n int) Report {
	t.Helper()
	var rounds []Round
	for i := range n {
		machine := 1 + 0.1*float64(i%3)
		for _, v := range []struct {
			name   string
			factor float64
			change func(r *Round)
		}{
			{variant.Before, 1, nil},
			{variant.Again, 1 + 0.04*float64(i%3-1), nil},
			{"+ transport", 2, func(r *Round) { r.InClosed.NewConns = 64 }},
			{"+ db", 1.005, nil},
			{variant.Pools, 1.02 + 0.03*float64(i%3-1), func(r *Round) { r.InClosed.Bytes, r.InOpen.Bytes = asked*6000, asked*6000 }},
			{variant.SyncPool, 1.02, func(r *Round) { r.InClosed.Bytes, r.InOpen.Bytes = asked*6000, asked*6000 }},
			{variant.All, 4, nil},
			{variant.AsPublished, 2, nil},
			{"+ gogc30", 0.8, func(r *Round) {
				r.InClosed.Cycles, r.InOpen.Cycles = 60, 60
				r.InOpen.PeakRSS = 50 << 20
			}},
		} {
			rounds = append(rounds, made(t, v.name, 3000*machine*v.factor, v.change))
		}
	}
	r := Report{Schema: Schema, Rounds: n, Users: users, Rate: 1800}
	r.Rows, r.Controls = Rows(variant.Variants(20, 97), rounds, users), Controls(rounds)
	r.Words = Words(r.Rows, r.Controls)
	return r
}

func TestRows(t *testing.T) {
	r := report(t, 6)
	if len(r.Rows) != 9 {
		t.Fatalf("%d rows", len(r.Rows))
	}
	row := r.Rows[2]
	if row.Variant != "+ transport" || row.Ratios["throughput"].Median < 1.99 || row.Ratios["throughput"].Median > 2.01 || row.ScorerConnections != 64.0/asked {
		t.Errorf("%+v", row)
	}
	first := r.Rows[0]
	if first.GCPer10k != 10 || first.Allocs != 90 || first.Bytes != 9000 || first.RSS != 72<<20 || first.DB != (DB{0.25, 0.1}) || first.Ratios != nil {
		t.Errorf("%+v", first)
	}
	if first.Response.Requests != 6*asked || first.Response.P999 == nil {
		t.Errorf("%+v", first.Response)
	}
	if foot := strings.Join(r.foot(), "\n"); !strings.Contains(foot, "before: service") || !strings.Contains(foot, "lag P99 of few samples;") ||
		!strings.Contains(foot, "as published is the publication's own end") || !strings.Contains(foot, "the server takes 97.") {
		t.Error(foot)
	}
	for _, row := range r.Rows {
		if !row.Little.Holds {
			t.Errorf("%s does not pass Little's law: %+v", row.Variant, row.Little)
		}
	}
}

// Figures that contradict each other are found out.
func TestLittle(t *testing.T) {
	bad := made(t, variant.Before, 3000, func(r *Round) { r.Closed.Seconds /= 2 })
	rows := Rows(variant.Variants(20, 97), []Round{bad}, users)
	if rows[0].Little.Holds {
		t.Errorf("%+v", rows[0].Little)
	}
	if words := strings.Join(Words(rows, nil), "\n"); !strings.Contains(words, "before does not pass Little's law: rate times mean is 128, and there were 64 users") {
		t.Error(words)
	}
}

// The law holds of rounds that differ much, as those of a pool near its bound do.
func TestLittleOfUnevenRounds(t *testing.T) {
	var rounds []Round
	for _, rate := range []float64{600, 3000, 600, 600} {
		rounds = append(rounds, made(t, variant.Before, rate, nil))
	}
	if l := Rows(variant.Variants(20, 97), rounds, users)[0].Little; !l.Holds || l.Says < 0.99*users || l.Says > 1.01*users {
		t.Errorf("%+v", l)
	}
}

func TestWords(t *testing.T) {
	said := report(t, 6).Words
	for _, want := range []string{
		"+ transport beside before: helps in throughput 2.00x [2.00, 2.00], ",
		"+ db beside before: nothing that can be told apart.",
		"+ gogc30 beside before: helps in peak RSS 0.69x [0.69, 0.69], and hurts in throughput 0.80x [0.80, 0.80], ",
		"collections 3.00x [3.00, 3.00]",
		"+ pools beside before: helps in bytes 0.67x [0.67, 0.67].",
		"+ pools beside + sync.Pool: nothing that can be told apart.",
		"all beside as published: helps in throughput 2.00x [2.00, 2.00]",
		"“Go Web服务性能压测实录(QPS突破12,800+):相亲网站高负载场景下的GC调优与连接池重构”, in English “A load test",
		"is a mean of 312 ms, above its own P99 of 86: inconsistent, unless the slowest hundredth takes 22.6 s",
	} {
		if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("the words do not say %q:\n%s", want, strings.Join(said, "\n"))
		}
	}
	few := strings.Join(report(t, 2).Words, "\n")
	if !strings.Contains(few, "No verdict: there are 2 rounds, and it takes 6.") || strings.Contains(few, "helps") {
		t.Error(few)
	}
}

func TestWrite(t *testing.T) {
	r := report(t, 6)
	var text, markdown, document strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteMarkdown(&markdown); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteJSON(&document); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{text.String(), markdown.String()} {
		if !strings.Contains(s, "+ gogc30") || !strings.Contains(s, "passes Little's law") || !strings.Contains(s, "0.80x [0.80, 0.80]") {
			t.Error(s)
		}
	}
	var back map[string]any
	if err := json.Unmarshal([]byte(document.String()), &back); err != nil {
		t.Fatal(err)
	}
	row := back["rows"].([]any)[2].(map[string]any)
	for _, field := range []string{"variant", "throughput", "response", "scorer_connections_per_request", "db_connections", "gc_per_10k", "gc_cpu_share", "allocs_per_request", "bytes_per_request", "rss_peak_bytes", "ratios"} {
		if _, ok := row[field]; !ok {
			t.Errorf("a row has no %s", field)
		}
	}
}
