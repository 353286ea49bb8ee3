package proof

// PoolMutants are the bugs that the explorer must find in what a pool adds to its engine.
// File is relative to the root.
var PoolMutants = []Mutant{
	{
		Name: "release-loads-then-stores", File: "lease.go", Scenarios: []string{"lease-copies"},
		Old: "!h.word.CompareAndSwap(alone, alone+generationUnit) {\n		return l.releaseSlow()\n	}\n",
		New: "h.word.Load() != alone {\n		return l.releaseSlow()\n	}\n	h.word.Store(alone + generationUnit)\n",
	},
	{
		Name: "retained-meanwhile", File: "lease.go", Scenarios: []string{"lease-retain"},
		Old: "	return h.word.CompareAndSwap(word, word+1)\n",
		New: "	h.word.Store(word + 1)\n	return true\n",
	},
	{
		Name: "retain-without-pin", File: "lease.go", Scenarios: []string{"lease-retain", "lease-owners"},
		Old: "	return h.word.CompareAndSwap(word, word+1)\n",
		New: "	return h.word.Load() == word\n",
	},
	{
		Name: "generation-forgotten", File: "lease.go", Scenarios: []string{"lease-copies"},
		Old: "h.word.CompareAndSwap(alone, alone+generationUnit)",
		New: "h.word.CompareAndSwap(alone, alone)",
	},
	{
		Name: "bytes-looks-at-word-first", File: "lease.go", Scenarios: []string{"lease-stale"},
		Old: "		data, end := l.h.data.Load(), uintptr(l.n)\n		if l.mark&capBits == capOfSlice {\n			end = l.h.size.Load()\n		}\n		if l.valid(l.h.word.Load()) {\n",
		New: "		word := l.h.word.Load()\n		data, end := l.h.data.Load(), uintptr(l.n)\n		if l.mark&capBits == capOfSlice {\n			end = l.h.size.Load()\n		}\n		if l.valid(word) {\n",
	},
	{
		Name: "truncate-does-not-look", File: "lease.go", Scenarios: []string{"lease-part"},
		Old: "	case l.h == nil, !l.valid(l.h.word.Load()):\n		panic(\"dewpond: Truncate",
		New: "	case l.h == nil:\n		panic(\"dewpond: Truncate",
	},
	{
		Name: "size-looked-up-too-late", File: "bytepool.go", Scenarios: []string{"lease-of"},
		Old: "			size = uint(h.size.Load())\n		}\n		h.noteRelease(h.word.Load() - generationUnit)\n		h.recycle()\n",
		New: "			defer func() { p.Put(unsafe.Slice((*byte)(block), h.size.Load())) }()\n			h.recycle()\n			return\n		}\n		h.noteRelease(h.word.Load() - generationUnit)\n		h.recycle()\n",
	},
	{
		Name: "not-last-gives-back", File: "lease.go", Scenarios: []string{"lease-owners"},
		Old: "		if l.h.word.CompareAndSwap(word, next) {\n			if last {\n",
		New: "		if l.h.word.CompareAndSwap(word, next) {\n			if true {\n",
	},
	{
		Name: "drop-loads-then-stores", File: "lease.go", Scenarios: []string{"lease-heirs"},
		Old: "		if h.word.CompareAndSwap(word, next) {\n",
		New: "		if h.word.Load() == word {\n			h.word.Store(next)\n",
	},
	{
		Name: "heir-does-not-pin-the-root", File: "lease.go", Scenarios: []string{"lease-chain"},
		Old: "		root.pin()\n",
		New: "",
	},
	{
		Name: "return-does-not-compare", File: "internal/memory/blocks.go", Scenarios: []string{"state-returns"},
		Old: "	return s.word.Load() == whenOut && s.word.CompareAndSwap(whenOut, whenOut^out)\n",
		New: "	if s.word.Load() != whenOut {\n		return false\n	}\n	s.word.Store(whenOut ^ out)\n	return true\n",
	},
	{
		Name: "return-leaves-it-out", File: "internal/memory/blocks.go", Scenarios: []string{"state-returns"},
		Old: "s.word.CompareAndSwap(whenOut, whenOut^out)",
		New: "s.word.CompareAndSwap(whenOut, whenOut)",
	},
	{
		Name: "remove-does-not-compare", File: "internal/memory/blocks.go", Scenarios: []string{"state-frees"},
		Old: "	return s.word.CompareAndSwap(whenOut^out, 0)\n",
		New: "	s.word.Store(0)\n	return true\n",
	},
	{
		Name: "release-looks-first", File: "internal/semaphore/semaphore.go", Scenarios: []string{"limit-wake"},
		Old: "	s.uncount()\n	if s.waiting.Load() > 0 {\n",
		New: "	waiting := s.waiting.Load()\n	s.uncount()\n	if waiting > 0 {\n",
	},
	{
		Name: "waiter-does-not-look", File: "internal/semaphore/semaphore.go", Scenarios: []string{"limit-wake"},
		Old: "	s.serveLocked() // for releases that came before anybody could see us\n",
		New: "",
	},
	{
		Name: "counts-without-comparing", File: "internal/semaphore/semaphore.go", Scenarios: []string{"limit-last"},
		Old: "		if s.out.CompareAndSwap(out, out+1) {\n",
		New: "		if s.out.Store(out + 1); true {\n",
	},
	{
		Name: "close-forgets-those-to-come", File: "internal/semaphore/semaphore.go", Scenarios: []string{"limit-close"},
		Old: "	if s.closed != nil {\n",
		New: "	if false {\n",
	},
	{
		Name: "tick-disarms-late", File: "internal/decay/decayer.go", Scenarios: []string{"decay-put"},
		Old: "		if d.armed.Store(false); d.empty() {\n			return\n		}\n		d.armed.Store(true)\n",
		New: "		d.armed.Store(false)\n		return\n",
	},
	{
		Name: "kept-looks-first", File: "internal/admission/put.go", Scenarios: []string{"decay-put"},
		Old: "	g.handOrFinish(class, block, g.engine.Push(class, block))\n",
		New: "	g.owner.Kept()\n	if r := g.engine.Push(class, block); r != magazine.Kept {\n		g.handOrFinish(class, block, r)\n	}\n",
	},
	{
		Name: "still-armed-forgotten", File: "internal/decay/decayer.go", Scenarios: []string{"tick-same"},
		Old: "		d.armed.Store(true)\n	}\n	d.awaitTickLocked()\n",
		New: "	}\n	d.awaitTickLocked()\n",
	},
	{
		Name: "only-the-first-beat-is-armed", File: "internal/decay/ticker.go", Scenarios: []string{"tick-same"},
		Old: "	c.armNextLocked(now)\n	switch {\n",
		New: "	switch {\n",
	},
	{
		Name: "runner-ends-when-more-is-due", File: "internal/decay/ticker.go", Scenarios: []string{"tick-fires"},
		Old: "		if c.due, c.next = c.due[:0], 0; c.live == r {\n",
		New: "		c.due, c.next = c.due[:0], 0\n		c.mu.Unlock()\n		if c.mu.Lock(); c.live == r {\n",
	},
	{
		Name: "timer-forgotten-when-it-has-ticked", File: "internal/decay/ticker.go", Scenarios: []string{"tick-put"},
		Old: "		c.armed = slices.Delete(c.armed, i, i+1)\n		if bubble.Told { // else it may be a bubble's, which no goroutine outside may reset\n			c.fired = t\n		}\n	}\n	r := c.beatLocked(now, func(b beat) bool { return b.at.Sub(now) <= b.epoch/8 })\n	c.mu.Unlock()\n	c.run(r)\n",
		New: "		defer func(i int) { c.armed = slices.Delete(c.armed, i, i+1) }(i)\n	}\n	r := c.beatLocked(now, func(b beat) bool { return b.at.Sub(now) <= b.epoch/8 })\n	c.mu.Unlock()\n	c.run(r)\n",
	},
}
