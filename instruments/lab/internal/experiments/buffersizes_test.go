package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestBufferSizes(t *testing.T) {
	narrow := func(article float64) figures {
		return figures{narrowRows: {"fixed_buffer_bytes": 2048, "article_buffer_bytes": article, "article_in_use_bytes": 2048, "learned_in_use_bytes": 1024}}
	}
	judges(t, "buffer-sizes/narrow", 0, narrow(1792), experiment.Reproduced)
	judges(t, "buffer-sizes/narrow", 0, narrow(2048), experiment.NotReproduced)
	wide := func(article float64) figures {
		return figures{wideRows: {"fixed_blocks": 1000, "article_blocks": article, "learned_blocks": 24, "fixed_in_use_bytes": 1e6, "article_in_use_bytes": 1e6, "learned_in_use_bytes": 1e6}}
	}
	judges(t, "buffer-sizes/wide", 0, wide(330), experiment.Reproduced)
	judges(t, "buffer-sizes/wide", 0, wide(32), experiment.DirectionOnly)
	judges(t, "buffer-sizes/wide", 0, wide(1000), experiment.NotReproduced)
	peak := func(article float64) figures {
		return figures{busyRows: {"article_peak_bytes": article, "without_peak_bytes": 2e5, "learned_peak_bytes": 1e5}}
	}
	judges(t, "buffer-sizes/idle", 0, peak(1e5), experiment.Reproduced)
	judges(t, "buffer-sizes/idle", 0, peak(3e5), experiment.NotReproduced)
	grown := func(load float64) figures {
		return figures{messagesOf: {"load_grown": load, "constant_grown": 100, "hint_grown": 300, "dewproto_grown": 300, "load_block_bytes": 6000, "constant_block_bytes": 6000, "hint_block_bytes": 4000}}
	}
	judges(t, "buffer-sizes/load", 0, grown(50), experiment.Reproduced)
	judges(t, "buffer-sizes/load", 0, grown(101), experiment.NotReproduced)
	judges(t, "buffer-sizes/load", 0, grown(150), experiment.NotReproduced)
}

// The article's function, by the sizes in its table.
func TestScanBuffer(t *testing.T) {
	for _, tt := range []struct {
		rowBytes int
		factor   float64
		want     int
	}{{115, 1, 1840}, {3072, 1, 48 << 10}, {10, 1, 1024}, {100_000, 1.5, 65536}, {115, 0.5, 1024}} {
		if got := scanBuffer(tt.rowBytes, tt.factor); got != tt.want {
			t.Errorf("rows of %d bytes with a factor of %v have %d, want %d", tt.rowBytes, tt.factor, got, tt.want)
		}
	}
	if narrow.rowBytes() != 115 || wide.rowBytes() != 3072 {
		t.Errorf("rows have %d and %d bytes", narrow.rowBytes(), wide.rowBytes())
	}
}
