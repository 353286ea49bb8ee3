package kit

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
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

// CPUTime returns the processor time that this process has used, that of the system for it included.
func CPUTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// OpenFiles returns how many files this process may have open at once.
func OpenFiles() uint64 {
	var limit syscall.Rlimit // asked of the system: who has too many files open can read no file that says it
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return limit.Cur
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
