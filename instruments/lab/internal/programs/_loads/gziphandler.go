package load

var dewpondLoads = map[string]dewpondLoad{
	"2 KB":            dewpondBenchmark(BenchmarkGzipHandler_S2k),
	"20 KB, parallel": dewpondBenchmark(BenchmarkGzipHandler_P20k),
}
