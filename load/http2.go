package load

import (
	"errors"
	"net/http"
	"time"
)

// An http2 is an HTTP/2 connection for many requests at a time.
type http2 struct{ *http.ClientConn }

// RoundTrip sends the request, whose context has the deadline, and returns the answer.
func (h http2) RoundTrip(q *http.Request, _ time.Time) (*http.Response, error) {
	return h.ClientConn.RoundTrip(q)
}

// Discard does nothing: to close the body ends the stream alone.
func (http2) Discard() {}

// Err returns why the connection cannot be used any more, or nil. A target that goes away says so
// first, and then the connection takes no more requests.
func (h http2) Err() error {
	if err := h.ClientConn.Err(); err != nil {
		return err
	}
	if h.Available() == 0 && h.InFlight() == 0 {
		return errors.New("the target takes no more requests on it")
	}
	return nil
}
