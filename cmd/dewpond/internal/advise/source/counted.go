package source

import (
	"context"
	"io"
)

// Counted returns what opens the source from the start. reads is told how many bytes are read of it, and
// once ctx has ended nothing more is.
func (s *Source) Counted(ctx context.Context, reads func(n int64)) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		file, err := s.open()
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{Counted(ctx, file, reads), file}, nil
	}
}

// Counted returns a reader of what another reads, of which reads is told how many bytes that were. It fails
// once ctx has ended. A nil reads is told nothing.
func Counted(ctx context.Context, from io.Reader, reads func(n int64)) io.Reader {
	return &counted{ctx, from, reads}
}

type counted struct {
	ctx   context.Context
	from  io.Reader
	reads func(int64)
}

func (c *counted) Read(b []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	n, err := c.from.Read(b)
	if c.reads != nil {
		c.reads(int64(n))
	}
	return n, err
}
