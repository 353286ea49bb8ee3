package load

var dewpondLoads = map[string]dewpondLoad{
	"ExecuteString":     dewpondBenchmark(BenchmarkFastTemplateExecuteString),
	"ExecuteFuncString": dewpondBenchmark(BenchmarkFastTemplateExecuteFuncString),
}
