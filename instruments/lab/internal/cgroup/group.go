// Package cgroup makes control groups for what the lab runs under a limit, of version 1 or 2 of the kernel's
// interface, and reads what the kernel has counted in them.
package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Group is a control group with a limit. Who makes it must end it with Remove.
type Group struct {
	// Dir is its directory, for a process that [Enter]s it.
	Dir string

	v2     bool
	former string // the directory of the group in which the process is that has made it
	undo   func() // what had to be allowed to make it
}

// newGroup makes a group without a process in it, below that of this process, or, where that may have none, below
// the root. Its error says what was lacking.
func newGroup(controller string, limit func(*Group) error) (*Group, error) {
	all, err := hierarchies()
	if err == nil {
		var g *Group
		if g, err = all.make(controller); err == nil {
			if err = limit(g); err == nil {
				return g, nil
			}
			err = errors.Join(err, g.Remove())
		}
	}
	return nil, fmt.Errorf("no control group of %s can be made here: %w; run as root, where the directories of control groups may be written", controller, err)
}

// OfMemory makes a group whose processes may have so many bytes together, swap included. A process that needs
// more, and has nothing that the kernel can take away, is killed.
func OfMemory(bytes int64) (*Group, error) {
	text := strconv.FormatInt(bytes, 10)
	return newGroup("memory", func(g *Group) error {
		if g.v2 {
			return errors.Join(g.write("memory.max", text), g.writeIfThere("memory.swap.max", "0"))
		}
		return errors.Join(g.write("memory.limit_in_bytes", text), g.writeIfThere("memory.memsw.limit_in_bytes", text))
	})
}

// period is that of limits of time, in microseconds.
const period = 100_000

// OfTime makes a group whose processes may use so many processors' time together.
func OfTime(processors float64) (*Group, error) {
	quota := strconv.Itoa(int(processors * period))
	return newGroup("cpu", func(g *Group) error {
		if g.v2 {
			return g.write("cpu.max", quota+" "+strconv.Itoa(period))
		}
		return errors.Join(g.write("cpu.cfs_period_us", strconv.Itoa(period)), g.write("cpu.cfs_quota_us", quota))
	})
}

// OfOneCPU makes a group whose processes may run on one processor alone.
func OfOneCPU() (*Group, error) {
	return newGroup("cpuset", func(g *Group) error {
		if !g.v2 { // a group without memory takes no process in
			mems, err := read(filepath.Dir(g.Dir), "cpuset.mems")
			if err != nil {
				return err
			}
			if err := g.write("cpuset.mems", mems); err != nil {
				return err
			}
		}
		cpus, err := cpusOf(filepath.Dir(g.Dir))
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(cpus, ",")
		first, _, _ = strings.Cut(first, "-")
		return g.write("cpuset.cpus", first)
	})
}

// Widen lets the processes of a group of [OfOneCPU], which has this directory, run on all processors that
// the group above it has.
func Widen(dir string) error {
	cpus, err := cpusOf(filepath.Dir(dir))
	if err != nil {
		return err
	}
	return write(dir, "cpuset.cpus", cpus)
}

// cpusOf returns on which processors a group may run, as in 0-3,8.
func cpusOf(dir string) (cpus string, err error) {
	for _, name := range []string{"cpuset.cpus.effective", "cpuset.effective_cpus"} { // of version 2, and of 1
		if cpus, err = read(dir, name); err == nil && cpus != "" {
			return cpus, nil
		}
	}
	return "", fmt.Errorf("%s does not say which processors it has: %w", dir, err)
}

// Enter moves this process into the group that has this directory. The runtime of Go looks at the start of a
// process which group's time it has: who wants to see that enters before it starts a child.
func Enter(dir string) error { return write(dir, "cgroup.procs", strconv.Itoa(os.Getpid())) }

// Leave moves this process back to where it was when it made the group.
func (g *Group) Leave() error { return Enter(g.former) }

// Remove removes the group. No process may be in it.
func (g *Group) Remove() error {
	err := os.Remove(g.Dir)
	for range 100 { // the kernel may still be at it when it says that the last process has ended
		if err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
		err = os.Remove(g.Dir)
	}
	g.undo()
	return err
}

// Killed returns how many of the group's processes the kernel has killed for their memory, by its own count.
func (g *Group) Killed() (int64, error) {
	if g.v2 {
		return g.count("memory.events", "oom_kill")
	}
	return g.count("memory.oom_control", "oom_kill")
}

// Peak returns the most bytes that the group's processes have had together.
func (g *Group) Peak() (int64, error) {
	name := "memory.max_usage_in_bytes"
	if g.v2 {
		name = "memory.peak" // since Linux 5.19
	}
	text, err := read(g.Dir, name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}

// Throttled returns in how many periods the group's processes have run, and in how many of these they have had
// to wait for the next one.
func (g *Group) Throttled() (periods, throttled int64, err error) {
	if periods, err = g.count("cpu.stat", "nr_periods"); err == nil {
		throttled, err = g.count("cpu.stat", "nr_throttled")
	}
	return periods, throttled, err
}

// count returns the number that stands behind a key in a file of lines of two words.
func (g *Group) count(name, key string) (int64, error) {
	text, err := read(g.Dir, name)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok && k == key {
			return strconv.ParseInt(v, 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s: this kernel does not count that", filepath.Join(g.Dir, name), key)
}

func (g *Group) write(name, text string) error { return write(g.Dir, name, text) }

// writeIfThere is write where there may be no such file, as on a kernel without swap.
func (g *Group) writeIfThere(name, text string) error {
	if err := g.write(name, text); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func read(dir, name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(data)), err
}

// write writes to a file of a control group. It makes none: where the directory is no control group there is
// no such file.
func write(dir, name, text string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
