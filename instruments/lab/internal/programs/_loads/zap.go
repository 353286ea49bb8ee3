package load

var dewpondLoads = map[string]dewpondLoad{
	"10 fields":        dewpondBenchmark(Benchmark10Fields),
	"no context":       dewpondBenchmark(BenchmarkNoContext),
	"caller and stack": dewpondBenchmark(BenchmarkAddCallerAndStacktrace),
}
