package dewpond

// Gathered reports whether the pool bypasses its shards.
func Gathered(p *BytePool) bool { return p.engine.Gathered() }

// Waiting reports whether anybody waits in GetContext.
func Waiting(p *BytePool) bool { return p.queue.waiting.Load() > 0 }

// Reserved returns the bytes that the pool keeps idle or holds places for.
func Reserved(p *BytePool) int64 { return p.engine.Reserved() }
