package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/prometheus/procfs"
)

// A place is where this process is in a hierarchy of control groups.
type place struct {
	root, own   string   // directories: of the hierarchy, and of this process' group in it
	v2          bool     // then files say which controllers it has
	controllers []string // of version 1
}

type places []place

// hierarchies finds where this process is in each hierarchy that is mounted.
func hierarchies() (places, error) {
	self, err := procfs.Self()
	if err != nil {
		return nil, err
	}
	groups, err := self.Cgroups()
	if err != nil {
		return nil, err
	}
	mounts, err := procfs.GetMounts()
	if err != nil {
		return nil, err
	}
	var all places
	for _, g := range groups {
		for _, m := range mounts {
			if p, ok := at(g, m); ok {
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// at returns where a group is that a process is in, if a mount shows its hierarchy.
func at(g procfs.Cgroup, m *procfs.MountInfo) (place, bool) {
	p := place{root: m.MountPoint, own: m.MountPoint, v2: len(g.Controllers) == 0, controllers: g.Controllers}
	mounted := func(controller string) bool { _, ok := m.SuperOptions[controller]; return ok }
	switch {
	case p.v2 && m.FSType != "cgroup2", !p.v2 && (m.FSType != "cgroup" || !slices.ContainsFunc(g.Controllers, mounted)):
		return p, false
	}
	// A mount may show a part of the hierarchy alone, from m.Root on.
	if below, ok := strings.CutPrefix(g.Path, strings.TrimSuffix(m.Root, "/")); ok {
		p.own = filepath.Join(m.MountPoint, below)
	}
	return p, true
}

// prefix begins the names of groups, of which made tells those of one process apart.
const prefix = "dewpond-lab-"

var made atomic.Int64

// make makes a group in a hierarchy that has a controller. What earlier processes have left that were killed is
// removed.
func (all places) make(controller string) (*Group, error) {
	err := errors.New("no hierarchy is mounted that has the controller")
	for _, p := range all {
		if !p.v2 && !slices.Contains(p.controllers, controller) {
			continue
		}
		for _, parent := range slices.Compact([]string{p.own, p.root}) {
			g := &Group{v2: p.v2, former: p.own, undo: func() {}}
			if p.v2 {
				if g.undo, err = allow(parent, controller); err != nil {
					continue
				}
			}
			sweep(parent)
			g.Dir = filepath.Join(parent, fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), made.Add(1)))
			if err = os.Mkdir(g.Dir, 0o755); err == nil {
				return g, nil
			}
			g.undo()
		}
	}
	return nil, err
}

// allow has groups below parent have a controller. Version 2 lets that be only where parent itself has it and,
// unless it is the root, has no process.
func allow(parent, controller string) (undo func(), err error) {
	has, err := read(parent, "cgroup.controllers")
	if err != nil {
		return nil, err
	}
	if !slices.Contains(strings.Fields(has), controller) {
		return nil, fmt.Errorf("%s has no controller %s", parent, controller)
	}
	on, err := read(parent, "cgroup.subtree_control")
	if err != nil {
		return nil, err
	}
	if slices.Contains(strings.Fields(on), controller) {
		return func() {}, nil
	}
	if err := write(parent, "cgroup.subtree_control", "+"+controller); err != nil {
		return nil, err
	}
	return func() { _ = write(parent, "cgroup.subtree_control", "-"+controller) }, nil // unless others use it by now
}

// sweep removes the groups of processes that are no more. One that still has a process cannot be removed.
func sweep(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
	for _, dir := range left {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		if _, err := strconv.Atoi(pid); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join("/proc", pid)); errors.Is(err, os.ErrNotExist) {
			os.Remove(dir)
		}
	}
}
