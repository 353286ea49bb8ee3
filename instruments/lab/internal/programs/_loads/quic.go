package load

import "testing"

var dewpondLoads = map[string]dewpondLoad{
	"transfer of 50 KB and its handshake": dewpondBenchmark(func(b *testing.B) { benchmarkTransfer(b, PRData) }),
	"streams opened and closed":           dewpondBenchmark(BenchmarkStreamChurn),
}
