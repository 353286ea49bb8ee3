package upload

import (
	"context"
	"io"
)

// A Whole reads a body, and ends in an error where the body ends too early. net/http has a case
// in which it reports io.EOF for a body that was cut off: once a handler in front, such as
// http.TimeoutHandler, has answered, the server discards what the client still sends. The
// request's context has ended by then.
type Whole struct {
	Ctx  context.Context // of the request
	Body io.Reader
	Left int64 // bytes that are still to come; negative: the length is unknown

	end error // set when Body has returned io.EOF: fasthttp would read the next request after that
}

// Read is Body's Read, but its io.EOF is [io.ErrUnexpectedEOF] while bytes are to come, and if the
// length is unknown the error of Ctx, if that has one. After the end Read returns the same again.
func (w *Whole) Read(p []byte) (n int, err error) {
	if w.end != nil {
		return 0, w.end
	}
	n, err = w.Body.Read(p)
	if w.Left >= 0 {
		w.Left = max(0, w.Left-int64(n))
	}
	if err != io.EOF {
		return n, err
	}
	switch {
	case w.Left > 0:
		err = io.ErrUnexpectedEOF
	case w.Left < 0 && w.Ctx.Err() != nil:
		err = w.Ctx.Err()
	}
	w.end = err
	return n, err
}
