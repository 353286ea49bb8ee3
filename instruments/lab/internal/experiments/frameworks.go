package experiments

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/gofiber/fiber/v3"
	"github.com/labstack/echo/v5"
	"github.com/valyala/fasthttp"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewecho"
	"github.com/dewpond/dewpond/contrib/dewfiber"
	"github.com/dewpond/dewpond/contrib/dewgin"
	"github.com/dewpond/dewpond/contrib/dewhttp"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// frameworks sends the same request through the routers of web frameworks, without a network, with
// dewpond's adapter and without, and counts the contexts and blocks that are made.
var frameworks = experiment.Experiment{
	ID:       "frameworks",
	Question: "How often do the context pools of web frameworks miss, and what do they cost?",
	Claims: []experiment.Claim{{
		ID: "frameworks/size", Text: "gin, echo and fiber need context pools of 64, 128 and 256, where a Get fails in 12.7, 0.3 and 0.0 %", Publication: sizing, Judge: judgeFrameworksMisses, Reach: experiment.Reach{Holds: experiment.Standing{experiment.At("gin", "miss_share"): experiment.At("no pool", "miss_share")}, Fails: experiment.Itself()},
	}, {
		ID: "frameworks/cost", Text: "to get a context takes 89, 42 and 31 µs", Publication: sizing, Judge: judgeFrameworksCost, Reach: experiment.Reach{Timed: true, Holds: experiment.Standing{experiment.At("sync.Pool", "get_ns"): experiment.At("a large New", "get_ns")}, Fails: experiment.Itself()},
	}, {
		ID: "frameworks/new", Text: "a New with a context, a path of 256 B and a map makes no allocation", Publication: sizing, Judge: judgeFrameworksNew, Reach: experiment.Reach{Holds: experiment.Standing{experiment.At("New", "allocs_per_op"): experiment.At("Get", "allocs_per_op")}, Fails: experiment.Itself()},
	}, {
		ID: "frameworks/adapters", Text: "dewpond's adapters at least halve the bytes that a request allocates whose handler reads a body and answers", Publication: ours, Judge: judgeFrameworksAdapters, Reach: experiment.Reach{Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("gin, dewpond", "alloc_bytes_per_op"): experiment.At("gin", "alloc_bytes_per_op")}},
	}},
	Cases: []string{"times"},
	Each:  1800 * time.Millisecond,
	Run:   runFrameworks,
	Plots: []experiment.Plot{
		{Figure: "request_ns", Title: "A request through the router", Note: "no network; 1.2 KB each way"},
		{Figure: "allocs_per_op", Title: "Allocations for each request"},
		{Figure: "alloc_bytes_per_op", Title: "Bytes allocated for each request"},
		{Figure: "miss_share", Title: "Contexts made for each request", Note: "64 goroutines"},
		{Figure: "block_miss_share", Title: "Blocks made for each block that an adapter gets", Note: "64 goroutines, two blocks a request"},
	},
}

// A sinkWriter is an http.ResponseWriter that counts what it is given.
type sinkWriter struct {
	header http.Header
	n      int
}

func (w *sinkWriter) Header() http.Header { return w.header }
func (w *sinkWriter) WriteHeader(int)     {}
func (w *sinkWriter) Write(p []byte) (int, error) {
	w.n += len(p)
	return len(p), nil
}

// A seen set counts different contexts by their addresses. It keeps them, so that no address
// comes back.
type seen struct {
	mu  sync.Mutex
	all map[any]bool
}

func (s *seen) add(context any) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.all[context] = true
	s.mu.Unlock()
}

var frameworkBody = bytes.Repeat([]byte("x"), 1200)

// answered is how long the answer to each request is: the id and the body.
const answered = 1 + 1200

// A framework makes a function that serves one request, and returns the length of its answer.
// The function is for one goroutine. pool is what the handler's memory is from, nil for the heap.
type framework struct {
	name  string
	pool  *dewpond.BytePool
	serve func(s *seen) func() func() int
}

// overHTTP makes such functions of a handler of net/http.
func overHTTP(h http.Handler) func() func() int {
	return func() func() int {
		w, body := &sinkWriter{header: http.Header{}}, bytes.NewReader(frameworkBody)
		r := httptest.NewRequest("POST", "/users/7", body)
		read := io.NopCloser(body)
		return func() int {
			body.Reset(frameworkBody)
			r.Body, w.n = read, 0
			h.ServeHTTP(w, r)
			return w.n
		}
	}
}

// answer is what each handler answers, on the memory of b.
func answer(b []byte, id string, body []byte) []byte { return append(append(b, id...), body...) }

// allFrameworks returns each router with handlers on the heap, as one writes them, and beside it
// with dewpond's adapter, where body and answer are of the request's Scope.
func allFrameworks() []framework {
	of := func(o *dewpond.BytePool) dewhttp.Options { return dewhttp.Options{Pool: o} }
	var netHTTP, ofGin, ofEcho, ofFiber dewpond.BytePool
	return []framework{
		{"net/http", nil, func(s *seen) func() func() int {
			mux := http.NewServeMux()
			mux.HandleFunc("POST /users/{id}", func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					http.Error(w, err.Error(), http.StatusBadRequest)
					return
				}
				w.Write(answer(nil, r.PathValue("id"), body))
			})
			return overHTTP(mux)
		}},
		{"net/http, dewpond", &netHTTP, func(s *seen) func() func() int {
			mux := http.NewServeMux()
			mux.HandleFunc("POST /users/{id}", func(w http.ResponseWriter, r *http.Request) {
				body, err := dewhttp.ReadBody(r)
				if err != nil {
					dewhttp.Error(w, err)
					return
				}
				w.Write(answer(dewhttp.ScopeOf(r.Context()).Get(answered)[:0], r.PathValue("id"), body))
			})
			return overHTTP(dewhttp.Middleware(of(&netHTTP))(mux))
		}},
		{"gin", nil, func(s *seen) func() func() int {
			gin.SetMode(gin.ReleaseMode)
			engine := gin.New()
			engine.POST("/users/:id", func(c *gin.Context) {
				s.add(c)
				body, err := c.GetRawData()
				if err != nil {
					c.AbortWithError(http.StatusBadRequest, err)
					return
				}
				c.Writer.Write(answer(nil, c.Param("id"), body))
			})
			return overHTTP(engine)
		}},
		{"gin, dewpond", &ofGin, func(s *seen) func() func() int {
			engine := gin.New()
			engine.Use(dewgin.Middleware(of(&ofGin)))
			engine.POST("/users/:id", func(c *gin.Context) {
				s.add(c)
				if body, ok := dewgin.Body(c); ok {
					c.Writer.Write(answer(dewgin.Scope(c).Get(answered)[:0], c.Param("id"), body))
				}
			})
			return overHTTP(engine)
		}},
		{"echo", nil, func(s *seen) func() func() int {
			e := echo.New()
			e.POST("/users/:id", func(c *echo.Context) error {
				s.add(c)
				body, err := io.ReadAll(c.Request().Body)
				if err != nil {
					return echo.ErrBadRequest.Wrap(err)
				}
				_, err = c.Response().Write(answer(nil, c.Param("id"), body))
				return err
			})
			return overHTTP(e)
		}},
		{"echo, dewpond", &ofEcho, func(s *seen) func() func() int {
			e := echo.New()
			e.Use(dewecho.Middleware(of(&ofEcho)))
			e.POST("/users/:id", func(c *echo.Context) error {
				s.add(c)
				body, err := dewecho.Body(c)
				if err != nil {
					return err
				}
				_, err = c.Response().Write(answer(dewecho.Scope(c).Get(answered)[:0], c.Param("id"), body))
				return err
			})
			return overHTTP(e)
		}},
		{"fiber", nil, func(s *seen) func() func() int {
			app := fiber.New()
			app.Post("/users/:id", func(c fiber.Ctx) error {
				s.add(c)
				_, err := c.Write(answer(nil, c.Params("id"), c.Body()))
				return err
			})
			return overFiber(app)
		}},
		{"fiber, dewpond", &ofFiber, func(s *seen) func() func() int {
			app := fiber.New()
			app.Use(dewfiber.Middleware(dewfiber.Options{Pool: &ofFiber}))
			app.Post("/users/:id", func(c fiber.Ctx) error {
				s.add(c)
				body, err := dewfiber.Body(c)
				if err != nil {
					return err
				}
				_, err = c.Write(answer(dewfiber.Scope(c).Get(answered)[:0], c.Params("id"), body)) // Write copies, Send does not
				return err
			})
			return overFiber(app)
		}},
	}
}

// overFiber makes functions that serve a request without a network.
func overFiber(app *fiber.App) func() func() int {
	handler := app.Handler()
	return func() func() int {
		var request fasthttp.RequestCtx
		request.Request.Header.SetMethod("POST")
		request.Request.SetRequestURI("/users/7")
		request.Request.SetBody(frameworkBody)
		return func() int {
			request.Response.Reset()
			handler(&request)
			return len(request.Response.Body())
		}
	}
}

func runFrameworks(r *experiment.Run) error {
	var ways []way
	for _, f := range allFrameworks() {
		serve := f.serve(nil)()
		if n := serve(); n != answered {
			return fmt.Errorf("%s answers with %d bytes, want %d", f.name, n, answered)
		}
		loop := func(n int) {
			for range n {
				serve()
			}
		}
		b, objects := allocations(1000, loop)
		r.SetOf(f.name, "alloc_bytes_per_op", b)
		r.SetOf(f.name, "allocs_per_op", objects)
		ways = append(ways, way{f.name, loop})
		contexts := &seen{all: map[any]bool{}}
		start := f.serve(contexts)
		const goroutines = 64
		each := max(r.Count(2000), 10)
		var before dewpond.Stats
		if f.pool != nil {
			before = f.pool.Stats()
		}
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				one := start()
				for range each {
					one()
				}
			})
		}
		wg.Wait()
		if f.pool != nil {
			after := f.pool.Stats()
			r.SetOf(f.name, "block_miss_share", float64(after.Misses-before.Misses)/float64(after.Gets-before.Gets))
		}
		if f.name[:3] == "net" {
			continue // it has no context to count
		}
		r.SetOf(f.name, "contexts", float64(len(contexts.all)))
		r.SetOf(f.name, "miss_share", float64(len(contexts.all))/float64(goroutines*each))
	}
	times(r, "request_ns", 120*time.Millisecond, ways...)
	type made struct {
		path   []byte
		values map[string]string
	}
	var sink *made
	fresh := func(n int) {
		for range n {
			sink = &made{path: make([]byte, 0, 256), values: make(map[string]string, 8)}
		}
	}
	_, objects := allocations(1000, fresh)
	r.SetOf("New", "allocs_per_op", objects)
	_ = sink
	pool := &sync.Pool{New: func() any { return new(made) }}
	_, objects = allocations(1000, func(n int) {
		for range n {
			pool.Put(pool.Get())
		}
	})
	r.SetOf("Get", "allocs_per_op", objects)
	r.SetOf("no pool", "miss_share", 1)
	// A New that makes a megabyte, and a pool to which nothing comes back.
	costly := &sync.Pool{New: func() any { return new([1 << 20]byte) }}
	times(r, "get_ns", 60*time.Millisecond, way{"sync.Pool", func(n int) {
		for range n {
			pool.Put(pool.Get())
		}
	}}, way{"a large New", func(n int) {
		for range n {
			sinkAny = costly.Get()
		}
	}})
	return nil
}

//lint:ignore U1000 what is assigned to it lies on the heap
var sinkAny any

// frameworkRow formats a figure of each framework.
func frameworkRow(m experiment.Measured, name string) string {
	s := ""
	for _, c := range []string{"net/http", "net/http, dewpond", "gin", "gin, dewpond", "echo", "echo, dewpond", "fiber", "fiber, dewpond"} {
		if v := experiment.At(c, name); m.Has(v) {
			if s != "" {
				s += "; "
			}
			s += c + " " + figure.Format(name, m.Median(c, name))
		}
	}
	return s
}

func judgeFrameworksMisses(m experiment.Measured) experiment.Finding {
	misses := experiment.At("gin", "miss_share")
	if f, lacking := m.Lacking(misses, experiment.At("echo", "miss_share"), experiment.At("fiber", "miss_share")); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: "contexts made for each request: " + frameworkRow(m, "miss_share"),
		Control:  "contexts in all: " + frameworkRow(m, "contexts"),
		Do:       "Set nothing: these pools are sync.Pools without a size, and a Get that finds none calls New.",
	}
	if m.Median("gin", "miss_share") > 0.06 {
		f.Verdict, f.Why = experiment.Reproduced, "many requests find no context"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "a Get cannot fail, there is no size to set, and hardly any request makes a context"
	return f
}

func judgeFrameworksCost(m experiment.Measured) experiment.Finding {
	get, whole := experiment.At("sync.Pool", "get_ns"), experiment.At("gin", "request_ns")
	if f, lacking := m.Lacking(get, whole); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: "a whole request through the router takes " + frameworkRow(m, "request_ns"),
		Control:  fmt.Sprintf("a Get and a Put of a sync.Pool %s", m.Text(get)),
		Do:       "Compare the parts with the whole before you believe a part.",
	}
	if m.Median(get.Case, get.Figure) > 10e3 {
		f.Verdict, f.Why = experiment.Reproduced, "a Get takes that long"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "a Get takes a thousandth of that, and even the whole request less than that Get"
	if m.Median(whole.Case, whole.Figure) > 31e3 {
		f.Verdict, f.Why = experiment.NotReproduced, "a Get takes a thousandth of that"
	}
	return f
}

func judgeFrameworksNew(m experiment.Measured) experiment.Finding {
	made := experiment.At("New", "allocs_per_op")
	if f, lacking := m.Lacking(made); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: m.Text(made) + " allocations for each call of such a New",
		Control:  "requests that hit: " + frameworkRow(m, "allocs_per_op") + " allocations, the body's among them",
		Do:       "A New may allocate: what counts is how rarely it is called.",
	}
	if m.Median(made.Case, made.Figure) < 0.5 {
		f.Verdict, f.Why = experiment.Reproduced, "it allocates nothing"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "the struct, the slice and the map are an allocation each"
	return f
}

// judgeFrameworksAdapters judges the adapter for which the claim holds least. fiber's own
// requests, whose body lies in a buffer of the connection, allocate only the answer.
func judgeFrameworksAdapters(m experiment.Measured) experiment.Finding {
	var worst result.Ratio
	var of, times string
	for _, c := range []string{"net/http", "gin", "echo", "fiber"} {
		plain, ours := experiment.At(c, "alloc_bytes_per_op"), experiment.At(c+", dewpond", "alloc_bytes_per_op")
		if f, lacking := m.Lacking(plain, ours, experiment.At(c, "request_ns"), experiment.At(c+", dewpond", "request_ns"), experiment.At(c+", dewpond", "block_miss_share")); lacking {
			return f
		}
		if r := m.Ratio(ours, plain); r.Median > worst.Median {
			worst, of = r, c
		}
		if times != "" {
			times += ", "
		}
		times += c + " " + figure.Bracketed(m.Ratio(experiment.At(c+", dewpond", "request_ns"), experiment.At(c, "request_ns")))
	}
	f := experiment.Finding{
		Measured: "bytes for each request: " + frameworkRow(m, "alloc_bytes_per_op"),
		Control:  "the time with the adapter to that without: " + times + "; blocks made for each that was asked for: " + frameworkRow(m, "block_miss_share"),
		Do:       "Take the adapter where handlers read bodies and build answers; it costs its middleware, and fiber's own bodies need none.",
	}
	f.Verdict, f.Why = experiment.Compare(worst, 0.5)
	if f.Verdict == experiment.DirectionOnly && worst.High < 0.5 {
		f.Verdict = experiment.Reproduced // it says at least
	}
	f.Why = "least with " + of + ": " + f.Why
	return f
}
