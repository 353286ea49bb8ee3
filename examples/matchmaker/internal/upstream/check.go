package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/matching"
)

// Await asks a scorer for one score, and again while it takes its time or says that it cannot yet. Who is
// not there, or answers something else, is asked once.
func Await(ctx context.Context, url string) error {
	transport := Transport()
	defer transport.CloseIdleConnections()
	for {
		later, err := check(ctx, &http.Client{Transport: transport}, url)
		if err == nil || !later || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// check asks once, and reports whether to ask again makes sense.
func check(ctx context.Context, client *http.Client, url string) (later bool, err error) {
	question, err := json.Marshal(Question{Candidates: make([]matching.Person, 1)})
	if err != nil {
		return false, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(question))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := client.Do(r)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return res.StatusCode == http.StatusServiceUnavailable, fmt.Errorf("%s answers %s", url, res.Status)
	}
	var a Answer
	if err := json.NewDecoder(io.LimitReader(res.Body, mostAnswer)).Decode(&a); err != nil || len(a.Scores) != 1 {
		return false, fmt.Errorf("%s answers, and that is no score", url)
	}
	return false, nil
}
