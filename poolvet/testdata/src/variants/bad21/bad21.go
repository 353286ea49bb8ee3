// Package bad21 reports events to a collector.
package bad21

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

var payloads = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Reporter posts events.
type Reporter struct {
	hc  *http.Client
	url string
}

// NewReporter makes a reporter for the address.
func NewReporter(hc *http.Client, url string) *Reporter {
	if hc == nil {
		hc = http.DefaultClient
	}
	return &Reporter{hc: hc, url: url}
}

// Report posts one event.
func (r *Reporter) Report(ctx context.Context, event any) error {
	buf := payloads.Get().(*bytes.Buffer)
	buf.Reset()
	defer payloads.Put(buf)
	if err := json.NewEncoder(buf).Encode(event); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(buf.Bytes()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.hc.Do(req) // want `\(returnput\)`
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("collector: %s", resp.Status)
	}
	return nil
}
