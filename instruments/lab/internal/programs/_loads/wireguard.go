package load

var dewpondLoads = map[string]dewpondLoad{
	"packets as fast as they go": dewpondBenchmark(BenchmarkThroughput),
}
