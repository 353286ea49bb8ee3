package progress

import (
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

// repaint is slow: painting takes a processor from what is measured.
const repaint = 500 * time.Millisecond

type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar

	mu    sync.Mutex
	state state
}

func newBar(out io.Writer, rounds int) *bar {
	b := &bar{state: state{began: time.Now(), rounds: rounds}}
	b.container = mpb.New(mpb.WithOutput(out), mpb.WithRefreshRate(repaint), mpb.WithWidth(12))
	b.bar = b.container.AddBar(int64(rounds),
		mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			b.mu.Lock()
			defer b.mu.Unlock()
			return " " + b.state.String()
		})),
	)
	return b
}

func (b *bar) Begin(spec workload.Spec) {
	b.mu.Lock()
	b.state.begin(spec)
	done := b.state.started - 1
	b.mu.Unlock()
	b.bar.SetCurrent(int64(done))
}

// Close aborts the bar, complete or not: Wait would otherwise wait for ever.
func (b *bar) Close() {
	b.bar.Abort(true)
	b.container.Wait()
}
