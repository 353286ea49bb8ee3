package process

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// write makes a System of files.
func write(t *testing.T, files map[string]string) System {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return System{filepath.Join(dir, "proc"), filepath.Join(dir, "cgroup")}
}

const stat = "7 (a ) b) S 1 7 7 0 -1 4194560 1234 0 56 0 10 5 0 0 20 0 8 0 998877 1000 200 0\n"

func TestRead(t *testing.T) {
	s := write(t, map[string]string{
		"proc/7/stat":         stat,
		"proc/7/smaps_rollup": "00400000-7fff [rollup]\nRss:     2048 kB\nPss: 1 kB\nLazyFree:  4 kB\nAnonHugePages:    1024 kB\n",
		"proc/7/maps":         "a\nb\nc\n",
	})
	first, err := s.Read(7)
	if err != nil {
		t.Fatal(err)
	}
	if first.Minor != 1234 || first.Major != 56 || first.Mappings != 3 || first.RSS != 2<<20 || first.Huge != 1<<20 || first.Lazy != 4096 {
		t.Errorf("%+v", first)
	}
	last := *first
	last.At, last.Minor, last.Mappings = first.At.Add(2*time.Second), 1334, 5
	if c, err := Between(first, &last); err != nil || c.Minor != 50 || c.Major != 0 || c.More != 2 || c.Seconds != 2 || !strings.Contains(c.Missing, "perf trace") {
		t.Errorf("%+v, %v", c, err)
	}
	last.started = "1"
	if _, err := Between(first, &last); !errors.Is(err, ErrOther) {
		t.Errorf("another process of the same number: %v", err)
	}
	if _, err := s.Read(8); !errors.Is(err, ErrNone) {
		t.Errorf("no process: %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, of := range map[string]struct{ stat, rollup, want string }{
		"short":    {"7 (x) S 1", "", "has 2 fields"},
		"faults":   {strings.Replace(stat, "1234", "x", 1), "", "stat: "},
		"rollup":   {stat, "Rss: x kB\n", "smaps_rollup: "},
		"no right": {stat, "", "run dewpond as the user of the process"},
	} {
		files := map[string]string{"proc/7/stat": of.stat}
		if of.rollup != "" {
			files["proc/7/smaps_rollup"] = of.rollup
		}
		if _, err := write(t, files).Read(7); err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: %v, want %s", name, err, of.want)
		}
	}
}

func TestCPULimit(t *testing.T) {
	for name, of := range map[string]struct {
		files map[string]string
		want  float64
	}{
		"none":        {map[string]string{"proc/7/cgroup": "0::/a\n", "cgroup/a/cpu.max": "max 100000\n"}, 0},
		"its own":     {map[string]string{"proc/7/cgroup": "0::/a\n", "cgroup/a/cpu.max": "150000 100000\n"}, 1.5},
		"above it":    {map[string]string{"proc/7/cgroup": "0::/a/b\n", "cgroup/a/cpu.max": "150000 100000\n", "cgroup/a/b/cpu.max": "400000 100000\n"}, 1.5},
		"container":   {map[string]string{"proc/7/cgroup": "0::/../host\n", "cgroup/cpu.max": "50000 100000\n"}, 0.5},
		"version 1":   {map[string]string{"proc/7/cgroup": "4:memory:/m\n3:cpu,cpuacct:/a\n", "cgroup/cpu/a/cpu.cfs_quota_us": "200000\n", "cgroup/cpu/a/cpu.cfs_period_us": "100000\n"}, 2},
		"1, no limit": {map[string]string{"proc/7/cgroup": "3:cpu:/a\n", "cgroup/cpu/a/cpu.cfs_quota_us": "-1\n", "cgroup/cpu/a/cpu.cfs_period_us": "100000\n"}, 0},
	} {
		if got, err := write(t, of.files).CPULimit(7); err != nil || got != of.want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, of.want)
		}
	}
	if _, err := (System{Proc: t.TempDir()}).CPULimit(7); !errors.Is(err, ErrNone) {
		t.Errorf("no process: %v", err)
	}
}

// This process has pages and mappings, and faults when it touches more.
func TestThisProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	first, err := System{}.Read(os.Getpid())
	if err != nil {
		t.Skip(err) // a sandbox may hide it
	}
	touched := make([]byte, 64<<20)
	for i := 0; i < len(touched); i += 4096 {
		touched[i] = 1
	}
	last, err := System{}.Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(touched)
	if last.Minor <= first.Minor || last.RSS < first.RSS+32<<20 || first.Mappings < 10 {
		t.Errorf("%+v, and after 64 MiB were touched %+v", first, last)
	}
}
