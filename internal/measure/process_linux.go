package measure

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// PeakRSS returns the largest resident memory of this process so far, in bytes. It reads VmHWM
// because ru_maxrss would inherit the parent's peak through fork.
func PeakRSS() uint64 { return kilobytes("VmHWM") }

// RSS returns the resident memory of this process, in bytes.
func RSS() uint64 { return kilobytes("VmRSS") }

// kilobytes returns a line of /proc/self/status, such as "VmHWM:  1234 kB", in bytes. It returns 0
// if there is none.
func kilobytes(name string) uint64 {
	fields := strings.Fields(entry("/proc/self/status", name))
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseUint(fields[0], 10, 64)
	return n << 10
}

// tick is the unit of processor times in /proc, on every architecture.
const tick = 10 * time.Millisecond

// CPUTime returns the processor time that this process has used, to about 10 ms.
func CPUTime() time.Duration {
	data, _ := os.ReadFile("/proc/self/stat")
	// The name, in brackets, may have spaces. The 12th and 13th behind it are the times of the
	// program and of the system for it.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick
}

// OpenFiles returns how many files this process may have open at once.
func OpenFiles() uint64 {
	data, _ := os.ReadFile("/proc/self/limits")
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "Max open files"); ok {
			n, _ := strconv.ParseUint(strings.Fields(rest + " 0")[0], 10, 64)
			return n
		}
	}
	return 0
}

func machine() string {
	if model := entry("/proc/cpuinfo", "model name"); model != "" {
		return model
	}
	return unknown
}

// entry returns the value of the first line "name: value" of a file, or "".
func entry(file, name string) string {
	data, _ := os.ReadFile(file)
	for line := range bytes.Lines(data) {
		key, value, ok := strings.Cut(string(line), ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func loadAverage() [3]float64 {
	data, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(data))
	if len(fields) < 3 {
		return noLoad
	}
	var out [3]float64
	for i := range out {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return noLoad
		}
		out[i] = v
	}
	return out
}
