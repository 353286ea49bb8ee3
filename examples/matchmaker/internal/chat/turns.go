package chat

import (
	"context"
	"time"
)

// A socket reads so many frames at once, and so many a second after that. Who sends more is read
// later: what is not read fills the connection, and then the client waits.
const (
	atOnce    = 100
	perSecond = 50
)

// turns says when the next frame is read. The zero value has all of them left.
type turns struct{ next time.Time }

// wait returns when it is somebody's turn, or the error of ctx.
func (t *turns) wait(ctx context.Context) error {
	const each = time.Second / perSecond
	now := time.Now()
	if earliest := now.Add(-atOnce * each); t.next.Before(earliest) {
		t.next = earliest
	}
	t.next = t.next.Add(each)
	d := t.next.Sub(now)
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
