// Package ok14 reports events to a collector.
package ok14

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

var payloads = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func encode(v any) (string, error) {
	buf := payloads.Get().(*bytes.Buffer)
	defer payloads.Put(buf)
	buf.Reset()
	if err := json.NewEncoder(buf).Encode(v); err != nil {
		return "", err
	}
	return buf.String(), nil
}

// Report posts one event.
func Report(ctx context.Context, hc *http.Client, url string, event any) error {
	body, err := encode(event)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := hc.Do(req)
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
