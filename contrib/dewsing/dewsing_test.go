package dewsing_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewsing"
	"github.com/dewpond/dewpond/dewtest"
)

// relay copies from one connection to the other, each piece in a buffer of its own, as sing
// does.
func relay(a allocator, to io.Writer, from io.Reader) error {
	for {
		b := a.Get(32 << 10)
		n, err := from.Read(b)
		if err == nil {
			_, err = to.Write(b[:n])
		}
		a.Put(b)
		if err != nil {
			return err
		}
	}
}

func TestClientsHangUp(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	a := dewsing.New(pool)
	content := bytes.Repeat([]byte("dew"), 100_000)
	var wg sync.WaitGroup
	for i := range 16 {
		client, in := net.Pipe()
		out, server := net.Pipe()
		wg.Go(func() {
			relay(a, out, in)
			out.Close()
			in.Close()
		})
		wg.Go(func() {
			client.Write(content[:len(content)*(i+1)/16])
			client.Close()
		})
		wg.Go(func() {
			defer server.Close()
			if i%2 == 0 { // leaves midway
				io.CopyN(io.Discard, server, 10_000)
				return
			}
			if got, err := io.ReadAll(server); err != nil || !bytes.Equal(got, content[:len(content)*(i+1)/16]) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	wg.Wait()
}

func TestIdleIsBounded(t *testing.T) {
	const bound = 1 << 20
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name(), MaxIdleBytes: bound})
	a := dewsing.New(pool)
	var burst [][]byte
	for i := range 1000 {
		burst = append(burst, a.Get(1+i*65))
	}
	for _, b := range burst {
		if err := a.Put(b); err != nil {
			t.Error(err)
		}
	}
	if s := pool.Stats(); s.IdleBytes > bound || s.InUseBytes != 0 {
		t.Errorf("%d bytes are idle, more than %d, and %d in use", s.IdleBytes, bound, s.InUseBytes)
	}
	if err := a.Put(make([]byte, 100)[1:]); err != nil || pool.Stats().Dropped.Foreign != 1 {
		t.Errorf("a foreign buffer: %v, %d dropped", err, pool.Stats().Dropped.Foreign)
	}
	for _, size := range []int{-1, 0, 65537} {
		if b := a.Get(size); b != nil {
			t.Errorf("Get(%d) returns %d bytes, and sing's own nil", size, len(b))
		}
	}
}
