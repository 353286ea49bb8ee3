package progress

import (
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/dewpond/dewpond/internal/measure/rounds"
)

// repaint is a long interval, because painting takes a processor from what is measured.
const repaint = 500 * time.Millisecond

type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar

	mu    sync.Mutex
	state state
}

func newBar(out io.Writer, turns int) *bar {
	b := &bar{state: state{began: time.Now(), turns: turns}}
	b.container = mpb.New(mpb.WithOutput(out), mpb.WithRefreshRate(repaint), mpb.WithWidth(12))
	b.bar = b.container.AddBar(int64(turns),
		mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			b.mu.Lock()
			defer b.mu.Unlock()
			return " " + b.state.String()
		})),
	)
	return b
}

func (b *bar) Begin(turn rounds.Turn) {
	b.mu.Lock()
	b.state.begin(turn)
	done := b.state.started - 1
	b.mu.Unlock()
	b.bar.SetCurrent(int64(done))
}

// Close aborts the bar even if it is not complete; otherwise Wait would wait for ever.
func (b *bar) Close() {
	b.bar.Abort(true)
	b.container.Wait()
}
