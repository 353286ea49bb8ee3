// Package process reads what Linux counts of a process in /proc: page faults, mappings, huge pages, and the
// limit of its processors.
package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Counters are what Linux has of a process at one moment.
type Counters struct {
	At       time.Time
	Minor    float64 // faults for which nothing was read, since the start
	Major    float64 // faults that waited for a disk
	Mappings float64
	RSS      float64 // bytes
	Huge     float64 // bytes of transparent huge pages
	Lazy     float64 // bytes given back with MADV_FREE, which Linux takes when it needs them
	started  string
}

// A System is where Linux shows its processes. The zero value is this machine.
type System struct{ Proc, Cgroup string }

func (s System) proc(pid int, name string) string {
	if s.Proc == "" {
		s.Proc = "/proc"
	}
	return filepath.Join(s.Proc, strconv.Itoa(pid), name)
}

// ErrNone means that there is no such process, or that the system is not Linux.
var ErrNone = errors.New("there is no such process in /proc: give the number of one that runs on this machine, which must be Linux")

// Read reads the counters of a process.
func (s System) Read(pid int) (*Counters, error) {
	stat, err := os.ReadFile(s.proc(pid, "stat"))
	if err != nil {
		return nil, ErrNone
	}
	c := &Counters{At: time.Now()}
	// The name of the program, in parentheses, may have any characters.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return nil, fmt.Errorf("%s has %d fields", s.proc(pid, "stat"), len(fields))
	}
	c.started = fields[19]
	for at, to := range map[int]*float64{7: &c.Minor, 9: &c.Major} {
		if *to, err = strconv.ParseFloat(fields[at], 64); err != nil {
			return nil, fmt.Errorf("%s: %w", s.proc(pid, "stat"), err)
		}
	}
	rollup, err := os.ReadFile(s.proc(pid, "smaps_rollup"))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: run dewpond as the user of the process, or as root", s.proc(pid, "smaps_rollup"))
	}
	for line := range strings.Lines(string(rollup)) {
		name, value, _ := strings.Cut(line, ":")
		to := map[string]*float64{"Rss": &c.RSS, "AnonHugePages": &c.Huge, "LazyFree": &c.Lazy}[name]
		if to == nil {
			continue
		}
		kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.proc(pid, "smaps_rollup"), err)
		}
		*to = kb * 1024
	}
	maps, err := os.ReadFile(s.proc(pid, "maps"))
	if err != nil {
		return nil, err
	}
	c.Mappings = float64(strings.Count(string(maps), "\n"))
	return c, nil
}

// CPULimit returns how many processors the process may use at once by its cgroups, or 0 if they do not limit it.
func (s System) CPULimit(pid int) (float64, error) {
	text, err := os.ReadFile(s.proc(pid, "cgroup"))
	if err != nil {
		return 0, ErrNone
	}
	root := s.Cgroup
	if root == "" {
		root = "/sys/fs/cgroup"
	}
	least := 0.0
	limit := func(quota, period string) {
		q, err := strconv.ParseFloat(quota, 64)
		p, err2 := strconv.ParseFloat(period, 64)
		if err == nil && err2 == nil && q > 0 && p > 0 && (least == 0 || q/p < least) {
			least = q / p
		}
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		// In a container the path may be of the host, and the root the process's own.
		for at := filepath.Clean("/" + parts[2]); ; at = filepath.Dir(at) {
			switch {
			case parts[1] == "":
				if max, err := os.ReadFile(filepath.Join(root, at, "cpu.max")); err == nil {
					if f := strings.Fields(string(max)); len(f) == 2 {
						limit(f[0], f[1])
					}
				}
			case strings.Contains(","+parts[1]+",", ",cpu,"):
				quota, err := os.ReadFile(filepath.Join(root, "cpu", at, "cpu.cfs_quota_us"))
				period, err2 := os.ReadFile(filepath.Join(root, "cpu", at, "cpu.cfs_period_us"))
				if err == nil && err2 == nil {
					limit(strings.TrimSpace(string(quota)), strings.TrimSpace(string(period)))
				}
			}
			if at == "/" {
				break
			}
		}
	}
	return least, nil
}

// ErrOther means that two counters are of two processes.
var ErrOther = errors.New("the process has ended, and its number belongs to another one: give that of one that goes on")

// A Change is what a process did between two moments.
type Change struct {
	Seconds  float64 `json:"seconds"`
	Minor    float64 `json:"minor_faults_per_second"`
	Major    float64 `json:"major_faults_per_second"`
	Mappings float64 `json:"mappings"`
	More     float64 `json:"mappings_more"` // than at the first moment
	RSS      float64 `json:"rss_bytes"`
	Huge     float64 `json:"huge_page_bytes"`
	Lazy     float64 `json:"lazily_freed_bytes"`
	Missing  string  `json:"missing"` // what cannot be told, and what would
}

// Between returns the change from one moment to a later one.
func Between(first, last *Counters) (Change, error) {
	seconds := last.At.Sub(first.At).Seconds()
	if first.started != last.started || seconds <= 0 {
		return Change{}, ErrOther
	}
	return Change{
		Seconds: seconds, Minor: (last.Minor - first.Minor) / seconds, Major: (last.Major - first.Major) / seconds,
		Mappings: last.Mappings, More: last.Mappings - first.Mappings, RSS: last.RSS, Huge: last.Huge, Lazy: last.Lazy,
		Missing: "how often it maps and gives back: perf trace -s -p PID counts mmap, munmap and madvise",
	}, nil
}
