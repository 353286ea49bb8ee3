package experiments

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// jsonUser decodes a user of 512 B with and without a pool, tests the reuse as published and
// repaired, and counts what a service with a pool does. The other build has encoding/json v2.
var jsonUser = experiment.Experiment{
	ID:       "json-user",
	Question: "What does a pool save when JSON is decoded into a struct, and how is its reuse tested?",
	Claims: []experiment.Claim{{
		ID: "json-user/time", Text: "721 ns become 664 with a pool", Publication: giveUp, Judge: judgeUserTime, Reach: experiment.Reach{Timed: true, Holds: experiment.Standing{experiment.At("sync.Pool", "decode_ns"): experiment.At("new, v2", "decode_ns")}, Fails: experiment.Standing{experiment.At("sync.Pool", "decode_ns"): experiment.At("new", "decode_ns")}},
	}, {
		ID: "json-user/bytes", Text: "816 B become 240, nearly a fourth", Publication: giveUp, Judge: judgeUserBytes, Reach: experiment.Reach{Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("sync.Pool", "alloc_bytes_per_op"): experiment.At("new", "alloc_bytes_per_op")}},
	}, {
		ID: "json-user/test", Text: "500 Gets of 500 goroutines show 28 misses (4 in the log), a reuse of 94.4 % (99.2 %)", Publication: giveUp, Judge: judgeUserTest, Reach: experiment.Reach{Holds: experiment.Standing{experiment.At("service", "shared_misses"): experiment.At("service", "apart_misses")}, Fails: experiment.Standing{experiment.At("service", "shared_misses"): experiment.At("service", "together_misses")}},
	}, {
		ID: "json-user/reuse", Text: "a service under load reuses nearly every object", Publication: giveUp, Judge: judgeUserReuse, Reach: experiment.Reach{Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("service", "own_hit_share"): experiment.At("service", "together_hit_share")}},
	}, {
		ID: "json-user/v2", Text: "encoding/json/v2 decodes 2.7 to 10 times as fast as v1", Publication: jsonBlog, Judge: judgeUserV2, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("new, v2", "decode_ns"): experiment.At("new", "decode_ns")}},
	}},
	Cases:  []string{"v1", "v2", "service"},
	Each:   900 * time.Millisecond,
	Builds: map[string]experiment.Build{"v2": {Env: []string{"GOEXPERIMENT=jsonv2"}}},
	Run:    runJSONUser,
	Plots: []experiment.Plot{
		{Figure: "decode_ns", Title: "Decode a user of 512 B"},
		{Figure: "alloc_bytes_per_op", Title: "Bytes allocated for each"},
	},
}

type user struct {
	ID       int64     `json:"id"`
	Username string    `json:"username"`
	Email    string    `json:"email"`
	Profile  [512]byte `json:"-"`
}

var userJSON = []byte(`{"id":1,"username":"john_doe","email":"john@example.com"}`)

func runJSONUser(r *experiment.Run) error {
	if r.Case == "service" {
		return userService(r)
	}
	pool := &sync.Pool{New: func() any { return new(user) }}
	ours := dewpond.MustPool(dewpond.PoolOptions[user]{})
	defer ours.Close()
	ways := []way{{"new", func(n int) {
		for range n {
			u := new(user)
			decodeUser(u)
			sinkUser = u
		}
	}}, {"sync.Pool", func(n int) {
		for range n {
			u := pool.Get().(*user)
			decodeUser(u)
			*u = user{}
			pool.Put(u)
		}
	}}, {"dewpond", func(n int) {
		for range n {
			u := ours.Get()
			decodeUser(u)
			ours.Put(u)
		}
	}}}
	if r.Case == "v2" {
		for i := range ways {
			ways[i].name += ", v2"
		}
	}
	for _, w := range ways {
		b, objects := allocations(1000, w.loop)
		r.SetOf(w.name, "alloc_bytes_per_op", b)
		r.SetOf(w.name, "allocs_per_op", objects)
	}
	times(r, "decode_ns", 200*time.Millisecond, ways...)
	return nil
}

//lint:ignore U1000 what is assigned to it lies on the heap
var sinkUser *user

func decodeUser(u *user) {
	if err := json.Unmarshal(userJSON, u); err != nil {
		panic(err)
	}
}

// A userHandler answers /process and /metrics. Its counters are right: each Get is one, and New
// counts the misses.
type userHandler struct {
	pool         sync.Pool
	gets, misses atomic.Int64
	empty        atomic.Int64
}

func newUserHandler() *userHandler {
	h := new(userHandler)
	h.pool.New = func() any { h.misses.Add(1); return new(user) }
	return h
}

func (h *userHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/metrics" {
		gets, misses := h.gets.Load(), h.misses.Load()
		fmt.Fprintf(w, "pool_gets_total %d\npool_misses_total %d\npool_hits_total %d\n", gets, misses, gets-misses)
		return
	}
	h.gets.Add(1)
	u := h.pool.Get().(*user)
	defer func() {
		*u = user{}
		h.pool.Put(u)
	}()
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	if err == nil && len(body) == 0 {
		h.empty.Add(1)
	}
	if err == nil {
		err = json.Unmarshal(body, u)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	io.WriteString(w, u.Username)
}

// userService runs the published test, the repaired one, and the service.
func userService(r *experiment.Run) error {
	const goroutines = 500
	shared := newUserHandler()
	one := httptest.NewRequest("POST", "/process", &lockedReader{r: bytes.NewReader(userJSON)})
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() { shared.ServeHTTP(httptest.NewRecorder(), one) })
	}
	wg.Wait()
	r.Set("shared_empty", float64(shared.empty.Load()))
	r.Set("shared_misses", float64(shared.misses.Load()))

	apart, together := missesOf(28), missesOf(goroutines)
	r.Set("apart_misses", apart)
	r.Set("together_misses", together)
	r.Set("together_hit_share", 1-together/goroutines)

	own := newUserHandler()
	n := max(r.Count(100_000), goroutines)
	var done atomic.Int64
	for range goroutines {
		wg.Go(func() {
			for done.Add(1) <= int64(n) {
				own.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/process", bytes.NewReader(userJSON)))
			}
		})
	}
	wg.Wait()
	answer := httptest.NewRecorder()
	own.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	want := fmt.Sprintf("pool_gets_total %d\n", n)
	right := 0.0
	if strings.HasPrefix(answer.Body.String(), want) && own.empty.Load() == 0 {
		right = 1
	}
	r.Set("own_empty", float64(own.empty.Load()))
	r.Set("own_hit_share", 1-float64(own.misses.Load())/float64(n))
	r.Set("counters_right", right)
	return nil
}

// missesOf returns how many of 500 Gets miss where so many users are out at once, and the others come one
// after the other: what such a test counts is what is out at once.
func missesOf(atOnce int) float64 {
	h := newUserHandler()
	var held []any
	for range atOnce {
		held = append(held, h.pool.Get())
	}
	for _, u := range held {
		h.pool.Put(u)
	}
	for range 500 - atOnce {
		h.pool.Put(h.pool.Get())
	}
	return float64(h.misses.Load())
}

// A lockedReader is the body that all goroutines of the published test share. The lock makes the
// data race of the test an order of some kind; whoever comes first has the whole body.
type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *lockedReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

func judgeUserTime(m experiment.Measured) experiment.Finding {
	plain, pooled := experiment.At("new", "decode_ns"), experiment.At("sync.Pool", "decode_ns")
	if f, lacking := m.Lacking(plain, pooled); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s become %s with sync.Pool", m.Text(plain), m.Text(pooled)),
		Control:  "dewpond " + m.Text(experiment.At("dewpond", "decode_ns")),
		Do:       "Pool the struct if it is large; most of the time is the decoder's.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(pooled, plain), 664.0/721)
	if f.Verdict == experiment.DirectionOnly {
		f.Why += ": the gain is of another size"
	}
	return f
}

func judgeUserBytes(m experiment.Measured) experiment.Finding {
	plain, pooled := experiment.At("new", "alloc_bytes_per_op"), experiment.At("sync.Pool", "alloc_bytes_per_op")
	if f, lacking := m.Lacking(plain, pooled); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s become %s", m.Text(plain), m.Text(pooled)),
		Control:  "dewpond " + m.Text(experiment.At("dewpond", "alloc_bytes_per_op")),
		Do:       "What is left is the decoder's own: pool the struct, and look at the decoder next.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(plain, pooled), 816.0/240)
	return f
}

func judgeUserTest(m experiment.Measured) experiment.Finding {
	empty, misses := experiment.At("service", "shared_empty"), experiment.At("service", "shared_misses")
	if f, lacking := m.Lacking(empty, misses); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s of 500 handlers see an empty body, and there are %s misses", m.Text(empty), m.Text(misses)),
		Control:  fmt.Sprintf("with a request of its own for each: %s empty, %s reused; with 28 out at once %s misses, with 500 %s", m.Text(experiment.At("service", "own_empty")), percent(m, experiment.At("service", "own_hit_share")), m.Text(experiment.At("service", "apart_misses")), m.Text(experiment.At("service", "together_misses"))),
		Do:       "Give each goroutine its own request, look at the answers, and run tests with -race.",
	}
	of := m.Figure(misses)
	switch {
	case of.Min <= 56 && of.Max >= 2:
		f.Verdict, f.Why = experiment.Reproduced, "as many misses are seen here: they are what is out at once"
	case of.Min > 56:
		f.Verdict, f.Why = experiment.NotReproduced, "there are more than twice as many misses"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "there are fewer than half as many misses"
	}
	if m.Median(empty.Case, empty.Figure) > 0 {
		f.Why += "; as a test it shows nothing: its goroutines share one request, the first handler reads the body of all, and the race detector reports it"
	}
	return f
}

func judgeUserReuse(m experiment.Measured) experiment.Finding {
	hits, right := experiment.At("service", "own_hit_share"), experiment.At("service", "counters_right")
	if f, lacking := m.Lacking(hits, right); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: percent(m, hits) + " of the Gets found a user, by counting New",
		Control:  "/metrics counts every request: " + map[bool]string{true: "yes", false: "no"}[m.Figure(right).Min == 1],
		Do:       "Export gets and misses, with New as the counter of misses.",
	}
	switch {
	case m.Figure(right).Min != 1:
		f.Verdict, f.Why = experiment.CannotTell, "the counters are wrong"
	case m.Median(hits.Case, hits.Figure) > 0.95:
		f.Verdict, f.Why = experiment.Reproduced, "misses are what is out at once, and what collections take"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "much is made anew"
	}
	return f
}

func judgeUserV2(m experiment.Measured) experiment.Finding {
	v1, v2 := experiment.At("new", "decode_ns"), experiment.At("new, v2", "decode_ns")
	if m.Absent["v2"] != "" {
		return experiment.Finding{Verdict: experiment.CannotTell, Measured: "nothing", Control: "v1 " + m.Text(v1), Why: "GOEXPERIMENT=jsonv2 could not be built or run: " + m.Absent["v2"], Do: "Run it inside the repository, with a Go that has the experiment."}
	}
	if f, lacking := m.Lacking(v1, v2); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s with v2, %s allocations", m.Text(v2), m.Text(experiment.At("new, v2", "allocs_per_op"))),
		Control:  fmt.Sprintf("%s with v1, %s allocations; pooled with v2 %s, %s allocations", m.Text(v1), m.Text(experiment.At("new", "allocs_per_op")), m.Text(experiment.At("sync.Pool, v2", "decode_ns")), m.Text(experiment.At("sync.Pool, v2", "allocs_per_op"))),
		Do:       "Try GOEXPERIMENT=jsonv2 before you pool what the decoder makes: it pools its own buffers.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(v1, v2), 2.7)
	return f
}
