package kit

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// The resident memory is as statm tells it, in other units; its peak is no less.
func TestResidentMemory(t *testing.T) {
	held := make([]byte, 32<<20)
	for i := range held {
		held[i] = 1
	}
	rss, peak := RSS(), PeakRSS()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseUint(strings.Fields(string(data))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if want := pages * uint64(os.Getpagesize()); rss < uint64(len(held)) || rss < want/2 || rss > 2*want {
		t.Errorf("%d bytes resident, statm says %d", rss, want)
	}
	if peak < uint64(len(held)) || peak+1<<20 < rss {
		t.Errorf("the peak is %d bytes, below %d now", peak, rss)
	}
	if held[len(held)-1] != 1 {
		t.Error("the memory was lost")
	}
}

func TestMachine(t *testing.T) {
	if machine() == "" {
		t.Error("the machine has no name, not even that it is unknown")
	}
	if l := loadAverage(); l[0] < 0 {
		t.Errorf("the load average is %v", l)
	}
	if got := entry("/proc/no such file", "x"); got != "" {
		t.Errorf("a file that is not there has %q", got)
	}
}

// The processor time grows with work, and the limit of files is what the system says.
func TestCPUTimeAndOpenFiles(t *testing.T) {
	before := CPUTime()
	for CPUTime() == before { // however slow
	}
	if OpenFiles() < 3 {
		t.Errorf("%d files may be open: these are fewer than every process has", OpenFiles())
	}
}
