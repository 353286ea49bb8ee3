package programs

const learnsFromEmpty = "bytebufferpool learns its sizes from what is put back, which is empty here, and keeps no larger buffer ([its issue](https://github.com/valyala/bytebufferpool/issues/15) has another such case)"

// Mechanisms that several loads have.
const (
	stranded     = "objects that lie idle with other processors are not found, and others are made instead"
	outlasts     = "what one burst has used outlasts GC cycles, so the next allocates less, and there are fewer cycles"
	staysForNext = "what one burst has used stays for the next, where a `sync.Pool` is empty after two GC cycles, and counts as live for GOGC"
)

// atEach shows what idle objects with other processors cost, which a miss there does not find.
var atEach = []int{1, 2, 8}

// A module's go line is raised for both sides, so all of this is built as one Go builds it.
var all = []Program{
	{
		Name: "fasttemplate", Module: "github.com/valyala/fasttemplate", Version: "v1.2.2",
		Replaced: "its bytebufferpools, one for each template, by a `Pool[Buffer]`",
		Edits:    []Edit{PageDiff{"valyala/fasttemplate 1.2.2", "template.go"}},
		Packages: []string{"."},
		Loads: []Load{
			{
				Name: "ExecuteString", Package: ".", As: "fasttemplate", File: "fasttemplate.go", Ops: 500_000,
				Because: learnsFromEmpty,
			},
			{
				Name: "ExecuteFuncString", Package: ".", As: "fasttemplate", File: "fasttemplate.go", Ops: 500_000,
				Because: learnsFromEmpty,
			},
		},
	},
	{
		Name: "gziphandler", Module: "github.com/NYTimes/gziphandler", Version: "v1.1.1",
		Replaced: "its `sync.Pool`s of gzip.Writers by `Pool[T]`s",
		Edits:    []Edit{PageDiff{"NYTimes/gziphandler 1.1.1", "gzip.go"}},
		Packages: []string{"."},
		Loads: []Load{
			{Name: "2 KB", Package: ".", As: "gziphandler", File: "gziphandler.go", Ops: 6_000},
			{Name: "20 KB, parallel", Package: ".", As: "gziphandler", File: "gziphandler.go", Ops: 1_500},
		},
	},
	{
		Name: "dns", Module: "github.com/miekg/dns", Version: "v1.1.73",
		Replaced: "the server's `sync.Pool` of `[]byte` by a `BytePool` of one class",
		Edits: []Edit{
			Import{"server.go", dewpond},
			Rule{"server.go", "udpPool sync.Pool", "udpPool *dewpond.BytePool", 1},
			Rule{
				"server.go", "srv.udpPool.New = makeUDPBuffer(srv.UDPSize)",
				`srv.udpPool = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "dns", Classes: []int{srv.UDPSize}, Zero: dewpond.ZeroNever})`, 1,
			},
			Rule{"server.go", "srv.udpPool.Get().([]byte)", "srv.udpPool.Get(srv.UDPSize)", 2},
		},
		Packages: []string{"."},
		Loads: []Load{
			{Name: "1000 queries a second", Package: ".", As: "dns", File: "dns.go", Ops: 3_000},
			{
				Name: "64 queries at a time", Package: ".", As: "dns", File: "dns.go", Ops: 25_000,
				Because: "a `sync.Pool` boxes each `[]byte` that is put back, 24 bytes",
			},
		},
	},
	{
		Name: "zap", Module: "go.uber.org/zap", Version: "v1.28.0",
		Replaced: "all its `sync.Pool`s by the recipe, which are the one in internal/pool",
		Edits:    []Edit{Recipe{"."}},
		Packages: []string{".", "buffer", "internal/pool", "zapcore"},
		Skip:     "TestStacktraceFiltersVendorZap", SkipWhy: "it makes a vendor directory of its own, which has no dewpond",
		Loads: []Load{
			{Name: "10 fields", Package: ".", As: "zap", File: "zap.go", Ops: 400_000},
			{
				Name: "no context", Package: ".", As: "zap", File: "zap.go", Ops: 1_500_000,
				Memory: "a program that imports dewpond has 0.9 MB more, most of it pages of code, and this one needs little itself",
			},
			{Name: "caller and stack", Package: ".", As: "zap", File: "zap.go", Ops: 100_000},
		},
	},
	{
		Name: "quic-go", Module: "github.com/quic-go/quic-go", Version: "v0.65.0",
		Replaced: "all its `sync.Pool`s by the recipe: packet buffers, frames, list elements",
		Edits:    []Edit{Recipe{"."}},
		Packages: []string{".", "http3"},
		Loads: []Load{
			{Name: "transfer of 50 KB and its handshake", Package: "integrationtests/self", As: "self_test", File: "quic.go", Ops: 200},
			{Name: "streams opened and closed", Package: "integrationtests/self", As: "self_test", File: "quic.go", Ops: 25_000},
		},
	},
	{
		Name: "wireguard-go", Module: "golang.zx2c4.com/wireguard", Version: "v0.0.0-20260522210424-ecfc5a8d5446",
		Replaced: "all its `sync.Pool`s by the recipe: in the WaitPools of packets and of what is in flight, and in the binding to UDP",
		Edits:    []Edit{Recipe{"."}},
		Packages: []string{"device", "conn", "tun"},
		Loads: []Load{
			{
				Name: "packets as fast as they go", Package: "device", As: "device", File: "wireguard.go", Ops: 50_000,
				Because: "a fresh buffer of 64 KiB with a packet of 1 KB has one page in memory; one that a collection has taken from a `sync.Pool` is cleared when it is allocated again, and has all 16 (with GOGC=off the program as it is needs as little)",
			},
		},
	},
	{
		Name: "nats-server", Module: "github.com/nats-io/nats-server/v2", Version: "v2.15.2",
		Replaced: "all `sync.Pool`s of the server by the recipe: of write buffers, of the blocks of the file store, and of 20 kinds of objects",
		Edits:    []Edit{Recipe{"server"}},
		Packages: []string{"server"},
		Tests:    "^(TestClient|TestFileStore|TestWS)",
		FailWhy:  "The two on permissions fail when root runs them, to whom nothing is refused.",
		Loads: []Load{
			{Name: "500 requests a second", Package: "server", As: "server", File: "nats.go", Ops: 2_000},
			{
				Name: "1 KB from one to 16", Package: "server", As: "server", File: "nats.go", Ops: 8_000,
				Because: "its write buffers outlast collections, so fewer are allocated again, and there are fewer collections",
			},
			{Name: "stored in a file and loaded", Package: "server", As: "server", File: "nats.go", Ops: 20_000},
		},
	},
	{
		Name: "prometheus", Module: "github.com/prometheus/prometheus", Version: "v0.316.0",
		Replaced: "all its `sync.Pool`s by the recipe: those of zeropool, which has slices of samples, of chunks and of buffers",
		Edits:    []Edit{Recipe{"."}},
		Packages: []string{"util/zeropool", "util/pool", "tsdb/chunkenc", "model/textparse"},
		Loads: []Load{
			{
				Name: "scrapes of 10 targets of 2000 series", Package: "tsdb", As: "tsdb", File: "prometheus.go", Ops: 2_000,
				Work:   stranded,
				Memory: stranded,
			},
		},
		Procs: atEach,
	},
	{
		Name: "kafka-go", Module: "github.com/segmentio/kafka-go", Version: "v0.4.51",
		Replaced: "all its `sync.Pool`s by the recipe: pages of 64 KiB and their buffers, and compressors",
		Edits:    []Edit{Recipe{"."}},
		Packages: []string{"protocol", "compress"}, // those of the client want a broker
		Loads: []Load{
			{
				Name: "steady, 16 producers of 512 KB", Package: ".", As: "kafka", File: "kafka.go", Ops: 1_600,
				Work:   stranded,
				Memory: stranded,
			},
			{
				Name: "bursts of 32 producers, then 150 MB garbage", Package: ".", As: "kafka", File: "kafka.go", Ops: 10,
				Because: outlasts,
				Memory:  staysForNext,
			},
		},
		Procs: atEach,
	},
	{
		// It pools a Server, which has pools, locks and atomics by value.
		Name: "fasthttp", Module: "github.com/valyala/fasthttp", Version: "v1.78.0",
		Replaced: "all its `sync.Pool`s by the recipe",
		Edits:    []Edit{Recipe{"."}},
		Packages: []string{".", "fasthttputil"},
		Clean:    true,
		Loads: []Load{
			{Name: "server, 10 requests per connection", Package: ".", As: "fasthttp", File: "fasthttp.go", Ops: 300_000},
			{
				Name: "2000 HostClients of 4 requests", Package: ".", As: "fasthttp", File: "fasthttp.go", Ops: 2_000,
				Work: "each client has two pools of its own, and of the few calls of a young `dewsync.Pool` each takes a lock",
			},
			{
				Name: "500 requests at once, then 200 MB garbage", Package: ".", As: "fasthttp", File: "fasthttp.go", Ops: 10,
				Because: outlasts,
				Memory:  staysForNext,
			},
		},
	},
	{
		Name: "coder-websocket", Module: "github.com/coder/websocket", Version: "v1.8.15",
		Replaced: "all its `sync.Pool`s by the recipe: flate.Writers and their readers, and buffers",
		Edits:    []Edit{Recipe{"."}},
		// The TestMain of its root package sees the goroutine of a test that is ending as a leak.
		Loads: []Load{
			{
				Name: "waves of 25 sessions", Package: "wsjson", As: "wsjson_test", File: "coder.go", Ops: 20,
				Because: outlasts,
				Memory:  staysForNext,
			},
			{
				Name: "waves of 100 sessions", Package: "wsjson", As: "wsjson_test", File: "coder.go", Ops: 5,
				Because: outlasts,
				Memory:  staysForNext,
			},
		},
	},
	{
		Name: "gorilla-websocket", Module: "github.com/gorilla/websocket", Version: "v1.5.3",
		Replaced: "all its `sync.Pool`s by the recipe: flate.Writers and their readers",
		Edits:    []Edit{Recipe{"."}},
		Packages: []string{"."},
		Loads: []Load{
			{
				Name: "hub, 100 compressed answers every 100 ms", Package: ".", As: "websocket", File: "gorilla.go", Ops: 30,
				Because: outlasts,
				Memory:  staysForNext,
			},
		},
	},
	{
		Name: "zerolog", Module: "github.com/rs/zerolog", Version: "v1.35.1",
		Replaced: "all its `sync.Pool`s by the recipe: events and arrays",
		Edits:    []Edit{Recipe{"."}},
		Packages: []string{".", "diode"},
		Loads: []Load{
			{Name: "empty", Package: ".", As: "zerolog", File: "zerolog.go", Ops: 10_000_000},
			{Name: "4 fields", Package: ".", As: "zerolog", File: "zerolog.go", Ops: 3_000_000},
			{Name: "an array", Package: ".", As: "zerolog", File: "zerolog.go", Ops: 500_000},
		},
	},
}

// testedOnly are those of which nothing is measured: their edits have the tests use dewpond, and those of
// bytebufferpool are no advice. The slices of bytebufferpool are all blocks here, which it takes from the pool at each Get and as it
// grows, and gives back at each Put.
var testedOnly = []Program{
	{
		Name: "bytebufferpool", Module: "github.com/valyala/bytebufferpool", Version: "v1.0.0",
		Replaced: "its byte slices by a `BytePool`'s",
		Edits: []Edit{
			Import{"pool.go", dewpond},
			Rule{
				"pool.go", "var defaultPool Pool\n",
				"var defaultPool Pool\n\nvar blocks = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: \"bytebufferpool\"})\n", 1,
			},
			Rule{"pool.go", "return v.(*ByteBuffer)\n", "b := v.(*ByteBuffer)\n\t\tb.B = p.block()\n\t\treturn b\n", 1},
			Rule{"pool.go", "B: make([]byte, 0, atomic.LoadUint64(&p.defaultSize)),", "B: p.block(),", 1},
			Rule{"pool.go", "b.Reset()\n", "blocks.Adopt(b.B)\n\t\tb.B = nil\n", 1},
			Rule{
				"pool.go", "func (p *Pool) calibrate() {",
				"func (p *Pool) block() []byte { return blocks.Get(max(minSize, int(atomic.LoadUint64(&p.defaultSize))))[:0] }\n\nfunc (p *Pool) calibrate() {", 1,
			},
			Rule{"bytebuffer.go", "p = make([]byte, nMax)", "p = blocks.Get(int(nMax))", 1},
			Rule{
				"bytebuffer.go", "bNew := make([]byte, nMax)\n\t\t\tcopy(bNew, p)\n\t\t\tp = bNew\n",
				"p = blocks.Grow(p, int(nMax)-len(p))[:nMax]\n", 1,
			},
			Rule{"bytebuffer.go", "append(b.B, p...)", "blocks.Append(b.B, p...)", 1},
			Rule{"bytebuffer.go", "append(b.B, c)", "blocks.Append(b.B, c)", 1},
			Rule{"bytebuffer.go", "append(b.B, s...)", "append(blocks.Grow(b.B, len(s)), s...)", 1},
			Rule{"bytebuffer.go", "append(b.B[:0], p...)", "blocks.Append(b.B[:0], p...)", 1},
			Rule{"bytebuffer.go", "append(b.B[:0], s...)", "append(blocks.Grow(b.B[:0], len(s)), s...)", 1},
		},
		Packages: []string{"."},
	},
}
