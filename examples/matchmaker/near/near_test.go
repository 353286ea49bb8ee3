package near

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A made source has values in a map, and does at a Get what hook says.
type made struct {
	mu     sync.Mutex
	values map[string]string
	fails  error
	gets   atomic.Int64
	hook   func()
}

func (m *made) Get(ctx context.Context, region, key string) ([]byte, error) {
	m.gets.Add(1)
	m.mu.Lock()
	value, ok := m.values[region+"/"+key]
	err := m.fails
	m.mu.Unlock()
	if m.hook != nil {
		m.hook()
	}
	if err == nil {
		err = ctx.Err()
	}
	if !ok || err != nil {
		return nil, err
	}
	return []byte(value), nil
}

func (m *made) Set(_ context.Context, region, key string, value []byte, _ time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[region+"/"+key] = string(value)
	return m.fails
}

func (m *made) Fill(ctx context.Context, region, key string, value []byte, life time.Duration) error {
	return m.Set(ctx, region, key, value, life)
}

const life = 5 * time.Millisecond

// want asks, and wants a value.
func want(t *testing.T, c *Cache, key, value string) {
	t.Helper()
	if got, err := c.Get(t.Context(), "east", key); err != nil || string(got) != value || (got == nil) != (value == "") {
		t.Errorf("%s is %q, %v, want %q", key, got, err, value)
	}
}

// A value is asked for once in its life, and anew after it.
func TestLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &made{values: map[string]string{"east/hot": "1"}}
		c := New(s, life)
		defer c.Close()
		for range 100 {
			want(t, c, "hot", "1")
		}
		if n := s.gets.Load(); n != 1 || c.Asked() != 100 || c.Loaded() != 1 {
			t.Errorf("the source was asked %d times; %d Gets, %d loads", n, c.Asked(), c.Loaded())
		}
		s.values["east/hot"] = "2" // another process writes
		time.Sleep(life - 1)
		want(t, c, "hot", "1")
		time.Sleep(time.Nanosecond)
		want(t, c, "hot", "2")
		if n := s.gets.Load(); n != 2 {
			t.Errorf("the source was asked %d times, want 2", n)
		}
		want(t, c, "none", "")
		want(t, c, "none", "")
		if n := s.gets.Load(); n != 4 {
			t.Errorf("what is not there was kept: %d Gets", n)
		}
		if got, err := c.Get(t.Context(), "west", "hot"); got != nil || err != nil {
			t.Errorf("another region has %q, %v", got, err)
		}
	})
}

// Those who ask at once wait for one answer.
func TestSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &made{values: map[string]string{"east/hot": "1"}, hook: func() { time.Sleep(time.Second) }}
		c := New(s, life)
		defer c.Close()
		var asking sync.WaitGroup
		for range 100 {
			asking.Go(func() { want(t, c, "hot", "1") })
		}
		asking.Wait()
		if n := s.gets.Load(); n != 1 {
			t.Errorf("the source was asked %d times, want once", n)
		}
	})
}

// One who gives up fails alone: who waits with it asks again.
func TestWhoAsksGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &made{values: map[string]string{"east/hot": "1"}, hook: func() { time.Sleep(time.Second) }}
		c := New(s, life)
		defer c.Close()
		first, give := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		asking.Go(func() {
			if _, err := c.Get(first, "east", "hot"); !errors.Is(err, context.Canceled) {
				t.Errorf("who gives up has %v", err)
			}
		})
		synctest.Wait()
		asking.Go(func() { want(t, c, "hot", "1") })
		synctest.Wait()
		give()
		asking.Wait()
	})
}

// Who writes reads that, whatever was kept, and whatever is being read while it is written.
func TestReadYourWrites(t *testing.T) {
	s := &made{values: map[string]string{"east/hot": "0"}}
	c := New(s, time.Hour)
	defer c.Close()
	want(t, c, "hot", "0")
	for i := 1; i <= 10; i++ {
		value := fmt.Sprint(i)
		if err := c.Set(t.Context(), "east", "hot", []byte(value), time.Hour); err != nil {
			t.Fatal(err)
		}
		want(t, c, "hot", value)
	}
	writes := make(chan struct{})
	c.Set(t.Context(), "east", "hot", []byte("old"), time.Hour)
	s.hook = sync.OnceFunc(func() { // it has read "old", and has not answered
		go func() {
			c.Set(t.Context(), "east", "hot", []byte("new"), time.Hour)
			close(writes)
		}()
		<-writes
	})
	c.Get(t.Context(), "east", "hot")
	want(t, c, "hot", "new")
}

// An error is not kept, and a write that fails leaves nothing kept.
func TestErrors(t *testing.T) {
	s := &made{values: map[string]string{"east/hot": "1"}}
	c := New(s, time.Hour)
	defer c.Close()
	want(t, c, "hot", "1")
	s.fails = errors.New("it is away")
	if err := c.Set(t.Context(), "east", "hot", []byte("2"), time.Hour); err == nil {
		t.Error("a write that fails has no error")
	}
	for range 2 {
		if _, err := c.Get(t.Context(), "east", "hot"); !errors.Is(err, s.fails) {
			t.Errorf("%v, want that it is away", err)
		}
	}
	s.fails = nil
	want(t, c, "hot", "2")
}
