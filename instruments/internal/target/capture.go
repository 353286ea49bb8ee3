package target

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/dewpond/dewpond/instruments/kit/outputs"
)

// mostTrace is how many bytes of a trace or a profile are taken.
const mostTrace = 64 << 20

// A Captured is what was taken of a target's own view.
type Captured struct {
	Phases *Phases
	Err    error // why there are none
	Files  []string
}

// ProfileURL returns the place of net/http/pprof's handlers: a URL without a path gets its usual
// one.
func ProfileURL(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is no URL: give one such as http://127.0.0.1:6060/debug/pprof", raw)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/debug/pprof"
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	u.RawQuery = ""
	return u.String(), nil
}

// Capture takes an execution trace of so many seconds, and with a directory also a processor
// profile of the same time; both are left there.
func Capture(ctx context.Context, client *http.Client, base string, seconds int, dir string) Captured {
	var c Captured
	var profiling sync.WaitGroup
	var profileErr error
	profile := ""
	if dir != "" {
		profile = filepath.Join(dir, "cpu.pprof")
		profiling.Go(func() {
			profileErr = fetchFile(ctx, client, fmt.Sprintf("%s/profile?seconds=%d", base, seconds), profile)
		})
	}
	data, err := fetch(ctx, client, fmt.Sprintf("%s/trace?seconds=%d", base, seconds))
	profiling.Wait()
	if profile != "" && profileErr == nil {
		c.Files = append(c.Files, profile)
	}
	if err == nil && dir != "" {
		name := filepath.Join(dir, "trace.out")
		if err = outputs.WriteBytes(name, data); err == nil {
			c.Files = append(c.Files, name)
		}
	}
	if err == nil {
		c.Phases, err = ReadTrace(bytes.NewReader(data))
	}
	if c.Err = err; err == nil {
		c.Err = profileErr
	}
	return c
}

func fetchFile(ctx context.Context, client *http.Client, url, name string) error {
	data, err := fetch(ctx, client, url)
	if err != nil {
		return err
	}
	return outputs.WriteBytes(name, data)
}

func fetch(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(q)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, mostTrace))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d: %s", url, answer.StatusCode, strings.TrimSpace(string(data[:min(len(data), 200)])))
	}
	return data, nil
}
