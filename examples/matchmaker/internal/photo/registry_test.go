package photo

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A tracked driver knows what is on when it is closed.
type tracked struct {
	Memory
	begun  chan struct{}
	held   chan struct{}
	on     atomic.Int32
	closed atomic.Bool
	early  atomic.Bool // it was closed while an upload was on
}

func (d *tracked) Put(ctx context.Context, uid int64, jpeg []byte) error {
	d.on.Add(1)
	defer d.on.Add(-1)
	if d.held != nil {
		d.begun <- struct{}{}
		<-d.held
	}
	return d.Memory.Put(ctx, uid, jpeg)
}

func (d *tracked) Close() error {
	d.early.Store(d.on.Load() > 0)
	d.closed.Store(true)
	return nil
}

// Drivers are switched while 200 uploads run. Every upload is whole, says which driver took it,
// and is read back after the switch.
func TestSwitchDuringUploads(t *testing.T) {
	disk, err := NewDisk()
	if err != nil {
		t.Fatal(err)
	}
	drivers := map[string]Driver{"a": new(Memory), "b": new(tracked), "disk": disk}
	r, err := NewRegistry(drivers, "a")
	if err != nil {
		t.Fatal(err)
	}
	const uploads = 200
	var (
		running sync.WaitGroup
		took    [uploads]string
		done    atomic.Int32
	)
	photo := func(uid int) []byte { return bytes.Repeat([]byte{byte(uid)}, 100+uid) }
	for uid := range uploads {
		running.Go(func() {
			var err error
			if took[uid], err = r.Put(t.Context(), int64(uid), photo(uid)); err != nil {
				t.Error(err)
			}
			done.Add(1)
		})
	}
	for i := 0; done.Load() < uploads; i++ {
		if err := r.Switch([]string{"a", "b", "disk"}[i%3]); err != nil {
			t.Fatal(err)
		}
	}
	running.Wait()
	for uid := range uploads {
		b, err := r.Get(t.Context(), int64(uid))
		if err != nil || !bytes.Equal(b, photo(uid)) {
			t.Fatalf("%d reads back %d bytes: %v", uid, len(b), err)
		}
		if b, err := drivers[took[uid]].Get(t.Context(), int64(uid)); err != nil || !bytes.Equal(b, photo(uid)) {
			t.Errorf("%d is not in %q, which is said to have taken it: %v", uid, took[uid], err)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// Close waits for a driver's last upload.
func TestCloseWaitsForTheLastUpload(t *testing.T) {
	d := &tracked{begun: make(chan struct{}), held: make(chan struct{})}
	r, err := NewRegistry(map[string]Driver{"slow": d}, "slow")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if _, err := r.Put(t.Context(), 1, []byte{1}); err != nil {
			t.Error(err)
		}
	})
	<-d.begun
	running.Go(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	for { // until Close is on
		if _, _, _, err := r.use(""); errors.Is(err, ErrClosed) {
			break
		} else if err == nil {
			r.mu.Lock()
			r.drivers["slow"].users--
			r.mu.Unlock()
		}
	}
	if d.closed.Load() {
		t.Error("it is closed while its upload is on")
	}
	close(d.held)
	running.Wait()
	if !d.closed.Load() || d.early.Load() {
		t.Error("it is closed early, or not at all")
	}
}

func TestUnknownDriver(t *testing.T) {
	r, err := NewRegistry(map[string]Driver{"memory": new(Memory), "disk": new(Memory)}, "memory")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Switch("tape"); err == nil || !strings.Contains(err.Error(), "disk, memory") || r.Current() != "memory" {
		t.Errorf("%v; the current one is %s", err, r.Current())
	}
	if _, err := r.Get(t.Context(), 7); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}
