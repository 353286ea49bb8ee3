package photo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Registry has the drivers by name, and knows which one takes uploads now. Its methods may be
// called by several goroutines at once.
type Registry struct {
	mu      sync.Mutex // held for a change of what follows, never during an upload
	drivers map[string]*registered
	current string
	where   map[int64]string // the driver that has a user's photo
	closed  bool
	idle    sync.Cond // a driver's last use has ended
}

type registered struct {
	Driver
	users int // uploads and readings that are on
}

// ErrClosed says that the registry takes no more.
var ErrClosed = errors.New("the photos' drivers are closed: the service stops")

// NewRegistry owns the drivers from now on.
func NewRegistry(drivers map[string]Driver, current string) (*Registry, error) {
	r := &Registry{drivers: map[string]*registered{}, where: map[int64]string{}}
	r.idle.L = &r.mu
	for name, d := range drivers {
		r.drivers[name] = &registered{Driver: d}
	}
	return r, r.Switch(current)
}

// Switch has the next uploads go to another driver. Those that are on stay where they are.
func (r *Registry) Switch(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drivers[name] == nil {
		return fmt.Errorf("there is no driver %q: choose one of %s", name, strings.Join(r.names(), ", "))
	}
	r.current = name
	return nil
}

func (r *Registry) names() []string {
	var names []string
	for name := range r.drivers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Current is the driver that takes uploads.
func (r *Registry) Current() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// use lends the driver of that name, or the current one, until done is called.
func (r *Registry) use(name string) (d Driver, used string, done func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, "", nil, ErrClosed
	}
	if name == "" {
		name = r.current
	}
	e := r.drivers[name]
	e.users++
	return e.Driver, name, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if e.users--; e.users == 0 {
			r.idle.Broadcast()
		}
	}, nil
}

// Put keeps a photo in the current driver, and says which that was.
func (r *Registry) Put(ctx context.Context, uid int64, jpeg []byte) (driver string, err error) {
	d, driver, done, err := r.use("")
	if err != nil {
		return "", err
	}
	defer done()
	if err := d.Put(ctx, uid, jpeg); err != nil {
		return "", fmt.Errorf("driver %s: %w", driver, err)
	}
	r.mu.Lock()
	r.where[uid] = driver
	r.mu.Unlock()
	return driver, nil
}

// Get returns a photo from the driver that took it, whichever is current now.
func (r *Registry) Get(ctx context.Context, uid int64) ([]byte, error) {
	r.mu.Lock()
	name, ok := r.where[uid]
	r.mu.Unlock()
	if !ok {
		return nil, ErrNotFound
	}
	d, _, done, err := r.use(name)
	if err != nil {
		return nil, err
	}
	defer done()
	return d.Get(ctx, uid)
}

// Close closes each driver when its last upload has ended.
func (r *Registry) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	var all error
	for _, e := range r.drivers {
		for e.users > 0 {
			r.idle.Wait()
		}
		all = errors.Join(all, e.Close())
	}
	clear(r.drivers)
	return all
}
