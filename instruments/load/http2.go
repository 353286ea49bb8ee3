package load

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// An http2 is an HTTP/2 connection for many requests at a time.
type http2 struct {
	*http.ClientConn
	gone     atomic.Bool // the target goes away: what is on its way may still be answered
	answered atomic.Bool // it has processed a request
}

// What net/http says of a request that the target has not processed: it goes away, and its last
// stream was before this one (RFC 9113, 6.8), or it did so before the request was sent. The errors
// have no names, and a test has a target that goes away.
const (
	goneAfter  = "Transport received Server's graceful shutdown GOAWAY"
	goneBefore = "client conn not usable"
)

// RoundTrip sends the request, whose context has the deadline, and returns the answer.
func (h *http2) RoundTrip(q *http.Request, _ time.Time) (*http.Response, error) {
	answer, err := h.ClientConn.RoundTrip(q)
	if err != nil && (strings.Contains(err.Error(), goneAfter) || strings.Contains(err.Error(), goneBefore)) {
		h.gone.Store(true)
		return nil, &againError{err, h.answered.Load()}
	}
	if err == nil {
		h.answered.Store(true)
	}
	return answer, err
}

// Discard does nothing: to close the body ends the stream alone.
func (*http2) Discard() {}

var errGone = errors.New("the target takes no more requests on it")

// Err returns why the connection cannot be used any more, or nil. A target that goes away says so
// first, and then the connection takes no more requests.
func (h *http2) Err() error {
	if h.gone.Load() || h.Available() == 0 && h.InFlight() == 0 {
		return errGone
	}
	return h.ClientConn.Err()
}

// An againError is the error of a request that the target has not processed, and that may be sent
// again. Others were answered on its connection, or none was.
type againError struct {
	err      error
	answered bool
}

func (e *againError) Error() string { return e.err.Error() }

func (e *againError) Unwrap() error { return e.err }
