package programs

const learnsFromEmpty = "bytebufferpool learns its sizes from what is put back, which is empty here, and keeps no larger buffer ([its issue](https://github.com/valyala/bytebufferpool/issues/15) has another such case)"

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
}

// testedOnly are those of which there is nothing to measure: their edits have the tests use dewpond, and are no
// advice. The slices of bytebufferpool are all blocks here, which it takes from the pool at each Get and as it
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
			Rule{"bytebuffer.go", "append(b.B, s...)", "blocks.AppendString(b.B, s)", 1},
			Rule{"bytebuffer.go", "append(b.B[:0], p...)", "blocks.Append(b.B[:0], p...)", 1},
			Rule{"bytebuffer.go", "append(b.B[:0], s...)", "blocks.AppendString(b.B[:0], s)", 1},
		},
		Packages: []string{"."},
	},
}
