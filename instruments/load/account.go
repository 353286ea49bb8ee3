package load

import (
	"math"
	"net"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
)

// An account is what this process has used so far.
type account struct {
	at          time.Time
	cpu         time.Duration
	collections uint64
	pauses      *metrics.Float64Histogram
}

func openAccount() account {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	h := s[0].Value.Float64Histogram()
	return account{time.Now(), kit.CPUTime(), kit.Collections(), &metrics.Float64Histogram{
		Counts: slices.Clone(h.Counts), Buckets: h.Buckets,
	}}
}

// close returns what was used since the account was opened.
func (a account) close() Generator {
	now := openAccount()
	g := Generator{CPUShare: -1, Collections: now.collections - a.collections}
	if wall := now.at.Sub(a.at); now.cpu > 0 && wall > 0 {
		g.CPUShare = float64(now.cpu-a.cpu) / float64(wall) / float64(runtime.GOMAXPROCS(0))
	}
	for i, n := range now.pauses.Counts {
		if n -= a.pauses.Counts[i]; n > 0 {
			g.Pauses += n
			longest := now.pauses.Buckets[i+1]
			if math.IsInf(longest, 1) {
				longest = now.pauses.Buckets[i]
			}
			g.LongestPause = longest * 1e9
		}
	}
	return g
}

// shared reports whether an address is one of this machine's.
func shared(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	ours, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(ours, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}
