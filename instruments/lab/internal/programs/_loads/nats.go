package load

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

var dewpondLoads = map[string]dewpondLoad{
	"500 requests a second":       dewpondRequests,
	"1 KB from one to 16":         dewpondFanOut,
	"stored in a file and loaded": dewpondStore,
}

func dewpondConnect(t *testing.T, url string) *nats.Conn {
	c, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func dewpondServer(t *testing.T) (url string) {
	o := DefaultOptions()
	o.Debug, o.Trace = false, false
	s := RunServer(o)
	t.Cleanup(s.Shutdown)
	return s.ClientURL()
}

// Eight clients ask one service, which answers with 512 bytes.
func dewpondRequests(t *testing.T, ops int) []time.Duration {
	url := dewpondServer(t)
	body := bytes.Repeat([]byte("x"), 512)
	service := dewpondConnect(t, url)
	if _, err := service.Subscribe("service", func(m *nats.Msg) { m.Respond(body) }); err != nil {
		t.Fatal(err)
	}
	if err := service.Flush(); err != nil {
		t.Fatal(err)
	}
	var clients []*nats.Conn
	for range 8 {
		clients = append(clients, dewpondConnect(t, url))
	}
	var open dewpondOpen
	return open.run(ops, time.Second/500, func(i int, due time.Time) {
		go func() {
			if _, err := clients[i%len(clients)].Request("service", body, time.Minute); err != nil {
				t.Error(err)
			}
			open.done(due)
		}()
	})
}

// Of what is under way there are at most 256 messages, so that no subscriber is too slow.
func dewpondFanOut(t *testing.T, ops int) []time.Duration {
	const subscribers = 16
	url := dewpondServer(t)
	body := bytes.Repeat([]byte("x"), 1024)
	received := make(chan bool, 256*subscribers)
	for range subscribers {
		c := dewpondConnect(t, url)
		if _, err := c.Subscribe("all", func(*nats.Msg) { received <- true }); err != nil {
			t.Fatal(err)
		}
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	c := dewpondConnect(t, url)
	for sent := 0; sent < ops; {
		more := min(256, ops-sent)
		for range more {
			if err := c.Publish("all", body); err != nil {
				t.Fatal(err)
			}
		}
		for range more * subscribers {
			<-received
		}
		sent += more
	}
	return nil
}

// Messages of 1 KB are stored, and then four goroutines load what was stored, one after the other.
func dewpondStore(t *testing.T, ops int) []time.Duration {
	s, err := newFileStore(
		FileStoreConfig{StoreDir: t.TempDir(), BlockSize: 512 << 10, CacheExpire: 10 * time.Millisecond},
		StreamConfig{Name: "load", Storage: FileStorage, Subjects: []string{"load"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	body := bytes.Repeat([]byte("x"), 1024)
	for range ops {
		if _, _, err := s.StoreMsg("load", nil, body, 0); err != nil {
			t.Fatal(err)
		}
	}
	var loading sync.WaitGroup
	for from := range 4 {
		loading.Go(func() {
			var m StoreMsg
			for i := range ops {
				if _, err := s.LoadMsg(uint64((i+from*ops/4)%ops+1), &m); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	loading.Wait()
	return nil
}
