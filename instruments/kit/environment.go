package kit

import (
	"math"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/result"
)

const unknown = "unknown CPU"

// noLoad is the load average on a system that has none.
var noLoad = [3]float64{-1, -1, -1}

// Environment describes where and when a benchmark begins.
func Environment() result.Environment {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(s)
	// The runtime stores "off" as uint64(-1), and no limit as the largest int64.
	gogc, limit := "off", "none"
	if percent := int64(s[0].Value.Uint64()); percent >= 0 {
		gogc = strconv.FormatInt(percent, 10)
	}
	if n := s[1].Value.Uint64(); n < math.MaxInt64 {
		limit = strconv.FormatUint(n, 10) + " B"
	}
	return result.Environment{
		Machine:     machine(),
		OS:          runtime.GOOS,
		Arch:        runtime.GOARCH,
		CPUs:        runtime.NumCPU(),
		GoVersion:   runtime.Version(),
		GOMAXPROCS:  runtime.GOMAXPROCS(0),
		GOGC:        gogc,
		GOMEMLIMIT:  limit,
		LoadAverage: loadAverage(),
		Time:        time.Now().Format(time.RFC3339),
	}
}
