// Package bad11 restores HTTP answers from a disk cache.
package bad11

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

var readers = sync.Pool{
	New: func() any { return bufio.NewReaderSize(nil, 8<<10) },
}

// Cache is a folder of stored answers.
type Cache struct {
	dir string
}

// ErrMiss says that nothing is stored.
var ErrMiss = errors.New("cache miss")

func (c *Cache) load(key string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(c.dir, key))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrMiss
	}
	return raw, err
}

// Lookup gives the stored answer for the request.
func (c *Cache) Lookup(key string, req *http.Request) (*http.Response, error) {
	raw, err := c.load(key)
	if err != nil {
		return nil, err
	}
	br := readers.Get().(*bufio.Reader)
	br.Reset(bytes.NewReader(raw))
	defer func() {
		br.Reset(nil)
		readers.Put(br)
	}()
	resp, err := http.ReadResponse(br, req)
	if err != nil {
		return nil, err
	}
	resp.Header.Set("X-Cache", "hit")
	return resp, nil // want `\(returnput\)`
}
