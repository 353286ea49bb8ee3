package load

var dewpondLoads = map[string]dewpondLoad{
	"empty":    dewpondBenchmark(BenchmarkLogEmpty),
	"4 fields": dewpondBenchmark(BenchmarkLogFields),
	"an array": dewpondBenchmark(BenchmarkLogArrayObject),
}
