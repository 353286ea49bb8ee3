package swarm

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A run whose coordinator was killed leaves its stream, for somebody may resume it. The next run removes
// the streams that nobody will.
const (
	resumeTime = 24 * time.Hour // since the stream's last message
	beginTime  = time.Minute    // in which a run that nobody answers for has begun, or will not
)

// sweep removes streams of runs that are dead. What it cannot find out or remove it leaves.
func sweep(ctx context.Context, nc *nats.Conn, js jetstream.JetStream, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	for info := range js.ListStreams(ctx).Info() {
		run, ours := strings.CutPrefix(info.Config.Name, streamName(""))
		if ours && dead(ctx, nc, run, info, now) {
			js.DeleteStream(ctx, info.Config.Name)
		}
	}
}

// dead reports whether nobody will resume the run.
func dead(ctx context.Context, nc *nats.Conn, run string, info *jetstream.StreamInfo, now time.Time) bool {
	if info.State.Msgs > 0 { // it has begun
		return now.Sub(info.State.LastTime) > resumeTime
	}
	if now.Sub(info.Created) < beginTime {
		return false
	}
	var reply heed
	err := ask(ctx, nc, newsSubject(run), news{Index: -1}, &reply)
	return errors.Is(err, nats.ErrNoResponders)
}
