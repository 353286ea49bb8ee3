package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

// The collector is set while the service runs.
func TestSetCollector(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	t.Cleanup(func() { debug.SetGCPercent(100); debug.SetMemoryLimit(noLimit) })
	for _, tt := range []struct {
		body, says string
		status     int
	}{
		{`{"gogc":150,"memory_limit":"8GiB"}`, `{"gogc":150,"memory_limit":"8589934592"}`, 200},
		{`{"gogc":70}`, `{"gogc":70,"memory_limit":"8589934592"}`, 200},
		{`{"memory_limit":"off"}`, `{"gogc":70,"memory_limit":"off"}`, 200},
		{`{"memory_limit":"1KiB"}`, `below the`, 400},
		{`{"memory_limit":"lots"}`, `1000GB, or off`, 400},
		{`{"gogc":-2}`, `-1 for none`, 400},
		{`gogc`, `send {\"gogc\":150`, 400},
	} {
		a, text := r.do(t, "PUT", "http://"+r.Admin+"/admin/gc", tt.body)
		if a.StatusCode != tt.status || !strings.Contains(text, tt.says) {
			t.Errorf("%s answers %d %s, want %d and %s", tt.body, a.StatusCode, text, tt.status, tt.says)
		}
	}
}
