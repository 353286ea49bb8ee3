package experiments

import "github.com/dewpond/dewpond/instruments/lab/internal/experiment"

// The publications whose claims the lab measures.
var (
	sizing = experiment.Publication{
		Title:   "sync.Pool Size设为16、64还是1024？三组百万QPS压测结果告诉你真相，90%团队都配错了",
		Address: "https://datasea.cn/go0206465001.html",
	}
	trading = experiment.Publication{
		Title:   "Go 高并发下的“内存刺客“：自研 Size-Class 无锁对象池，把 sync.Pool 的 P99 从 128μs 压到 41μs",
		Address: "https://jishuzhan.net/article/2072195974520467457",
	}
	giveUp = experiment.Publication{
		Title:   "为何最终我放弃了 Go 的 sync.Pool",
		Address: "https://developer.aliyun.com/article/1718728",
	}
	matching = experiment.MatchMaking
	latency  = experiment.Publication{
		Title:       "用Benchmark验证sync.Pool对GC latency的优化效果",
		Translation: "Benchmarks that check what sync.Pool does for the latency of the collector",
	}
	gcGuide    = experiment.Publication{Title: "A Guide to the Go Garbage Collector", Address: "https://go.dev/doc/gc-guide"}
	erlang     = experiment.Publication{Title: "Erlang (unit): Erlang C formula", Address: "https://en.wikipedia.org/wiki/Erlang_(unit)"}
	wireguard  = experiment.Publication{Title: "wireguard-go: device/queueconstants_default.go", Address: "https://git.zx2c4.com/wireguard-go/tree/device/queueconstants_default.go"}
	jsonBlog   = experiment.Publication{Title: "A new experimental Go API for JSON", Address: "https://go.dev/blog/jsonv2-exp"}
	release125 = experiment.Publication{Title: "Go 1.25 Release Notes", Address: "https://go.dev/doc/go1.25"}
	release126 = experiment.Publication{Title: "Go 1.26 Release Notes", Address: "https://go.dev/doc/go1.26"}
	// These are no publications.
	ours     = experiment.OurOwn
	folklore = experiment.Folklore
)
