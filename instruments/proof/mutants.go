package proof

// A Mutant is a bug seeded into one of the engine's files: Old, which must occur there exactly
// once, is replaced by New.
type Mutant struct {
	Name      string
	File      string // in internal/magazine
	Old, New  string
	Scenarios []string // at least one of them must find it
}

// Mutants are the bugs that the explorer must find.
var Mutants = []Mutant{
	{
		Name: "spilled-after-close", File: "tier.go", Scenarios: []string{"tier-close"},
		Old: "	if e.Closed() { // perhaps before class was set\n		t.detach()\n	}\n",
		New: "",
	},
	{
		Name: "no-generation", File: "stack.go", Scenarios: []string{"aba"},
		Old: "generation := head&^indexMask + 1<<indexBits",
		New: "generation := head &^ indexMask",
	},
	{
		Name: "no-grace-period", File: "replace.go", Scenarios: []string{"trim"},
		Old: "	grace(changes)\n",
		New: "",
	},
	{
		Name: "drain-before-grace", File: "replace.go", Scenarios: []string{"trim"},
		Old: "	grace(changes)\n	for _, c := range changes {\n		if !c.armed.Load() {\n			c.procs.Store(uintptr(c.next.procs))\n		}\n		c.drain(c.old)\n",
		New: "	for _, c := range changes {\n		c.drain(c.old)\n	}\n	grace(changes)\n	for _, c := range changes {\n		if !c.armed.Load() {\n			c.procs.Store(uintptr(c.next.procs))\n		}\n",
	},
	{
		Name: "procs-before-grace", File: "replace.go", Scenarios: []string{"grow2"},
		Old: "	grace(changes)\n",
		New: "	for _, c := range changes {\n		c.procs.Store(uintptr(c.next.procs))\n	}\n	grace(changes)\n",
	},
	{
		Name: "publish-before-fill", File: "depot.go", Scenarios: []string{"depot"},
		Old: "	m.n, m.room = 0, 0\n	m.add(block)\n	d.came(1)\n	count.Add(1)\n	d.full.push(m)\n",
		New: "	m.n, m.room = 1, 1\n	d.came(1)\n	count.Add(1)\n	d.full.push(m)\n	*m.item(0) = block\n",
	},
	{
		Name: "lost-undo", File: "bounds.go", Scenarios: []string{"bound-both"},
		Old: "		d.reserved.Add(granted - allowed)\n",
		New: "",
	},
	{
		Name: "counted-and-undone", File: "bounds.go", Scenarios: []string{"bound-full", "bound-full-bytes"},
		Old: "		if n <= 0 || counter.CompareAndSwap(v, v+n*step) {\n			return n\n		}\n",
		New: "		v = counter.Add(want * step)\n		n = min(want, (v-limit+step-1)/step)\n		if n > 0 {\n			counter.Add(-n * step)\n		}\n		return want - max(n, 0)\n",
	},
	{
		Name: "check-then-act", File: "bounds.go", Scenarios: []string{"bound"},
		Old: "		if n <= 0 || counter.CompareAndSwap(v, v+n*step) {\n			return n\n		}\n",
		New: "		counter.Add(n * step)\n		return n\n",
	},
	{
		Name: "beyond-check-then-act", File: "demand.go", Scenarios: []string{"beyond-peak"},
		Old: "		if e.bounds.reserved.CompareAndSwap(v, v+n*size) {\n			return n\n		}\n		d.share.give(more)\n",
		New: "		e.bounds.reserved.Add(n * size)\n		return n\n",
	},
	{
		Name: "beyond-not-undone", File: "demand.go", Scenarios: []string{"beyond", "beyond-pop"},
		Old: "			return n\n		}\n		d.share.give(more)\n",
		New: "			return n\n		}\n",
	},
	{
		Name: "beyond-not-given-back", File: "bounds.go", Scenarios: []string{"beyond-trim"},
		Old: "left+bytes > b.base {\n",
		New: "left > b.base {\n",
	},
	{
		Name: "beyond-looked-again", File: "bounds.go", Scenarios: []string{"beyond-shed", "beyond-pop"},
		Old: "(b.beyond(left+bytes) - b.beyond(left))",
		New: "(b.beyond(left+bytes) - b.beyond(e.bounds.reserved.Load()))",
	},
	{
		Name: "double-drain", File: "replace.go", Scenarios: []string{"trims"},
		Old: "	replaceAll(there)\n",
		New: "	unlockAll(engines)\n	replaceAll(there)\n	lockAll(e, beside)\n",
	},
	{
		Name: "trim-without-trimming", File: "replace.go", Scenarios: []string{"trim-pop"},
		Old: "append(there, change{Engine: e, to: trimming})",
		New: "append(there, change{Engine: e, to: before})",
	},
	{
		Name: "back-before-detached", File: "replace.go", Scenarios: []string{"trim-pop"},
		Old: "		all[i] = e.detach(e.sharded == 0 || e.array().mode == trimming)\n	}\n	replaceAll(back)\n",
		New: "		_, _ = i, e\n	}\n	replaceAll(back)\n	for i, e := range engines {\n		all[i] = e.detach(true)\n	}\n",
	},
	{
		Name: "pushes-onto-old-blocks", File: "exchange.go", Scenarios: []string{"trim-direct"},
		Old: "		rounds = 1 // each",
		New: "		// each",
	},
	{
		Name: "pops-while-trimming", File: "exchange.go", Scenarios: []string{"trim-direct"},
		Old: "m == trimming || m == closed",
		New: "m == closed",
	},
	{
		Name: "wake-up-lost-in-trim", File: "replace.go", Scenarios: []string{"wake-trims"},
		Old: "		case trimming:\n			atomics.Yield()\n			continue\n		case sharded, closed:\n",
		New: "		case trimming, sharded, closed:\n",
	},
	{
		Name: "no-generation-of-all", File: "stack.go", Scenarios: []string{"trim-aba"},
		Old: "CompareAndSwap(head, head&^indexMask+1<<indexBits)",
		New: "CompareAndSwap(head, head&^indexMask)",
	},
	{
		Name: "no-settling", File: "replace.go", Scenarios: []string{"settle"},
		Old: "settled, ended := a.settled.Load(), d.ended.Load()",
		New: "settled, ended := true, d.ended.Load()",
	},
	{
		Name: "blocks-in-hand-forgotten", File: "replace.go", Scenarios: []string{"exact"},
		Old: "bare && d.started.Load() == ended &&",
		New: "bare && ended == ended &&",
	},
	{
		Name: "closed-with-room", File: "bounds.go", Scenarios: []string{"close-empty"},
		Old: "return b.reserved.CompareAndSwap(0, noRoom) }",
		New: "return b.reserved.Load() == 0 }",
	},
	{
		Name: "what-left-read-last", File: "counts.go", Scenarios: []string{"trim-idle"},
		Old: "		left := d.total.Hits + d.hits.Load() + d.released.Load() + e.unfolded(class, hits)\n		came := d.total.Puts + d.puts.Load() + d.added.Load() + e.unfolded(class, puts)\n",
		New: "		came := d.total.Puts + d.puts.Load() + d.added.Load() + e.unfolded(class, puts)\n		e.array()\n		left := d.total.Hits + d.hits.Load() + d.released.Load() + e.unfolded(class, hits)\n",
	},
	{
		Name: "counted-after-it-came", File: "depot.go", Scenarios: []string{"trim-idle"},
		Old: "		count.Add(1)\n		m.add(block)\n	}\n	d.full.push(m)\n",
		New: "		m.add(block)\n	}\n	d.full.push(m)\n	if e.array(); kept {\n		count.Add(1)\n	}\n",
	},
	{
		Name: "shards-without-grace", File: "replace.go", Scenarios: []string{"first"},
		Old: "		delay(seamGrow)\n		e.replace(sharded)\n",
		New: "		next := e.newArray(sharded, percpu.Procs())\n		e.procs.Store(uintptr(next.procs))\n		next.settled.Store(true)\n		e.current.Store(&next.slots[0])\n",
	},
	{
		Name: "closed-not-seen", File: "exchange.go", Scenarios: []string{"close"},
		Old: "	case x.array().mode == closed:\n		return AfterClose, false\n",
		New: "",
	},
	{
		Name: "hot-block-forgotten", File: "exchange.go", Scenarios: []string{"trim"},
		Old: "func (e *Engine) evict(s *slot, d *depot) (bytes int) {\n	atomics.Touch(s)\n	s.loadHot()\n",
		New: "func (e *Engine) evict(s *slot, d *depot) (bytes int) {\n	atomics.Touch(s)\n",
	},
	{
		Name: "room-not-given-up", File: "depot.go", Scenarios: []string{"trim"},
		Old: "	e.release(d, uint32(room-n))\n",
		New: "",
	},
	{
		Name: "granted-one-more", File: "bounds.go", Scenarios: []string{"bound"},
		Old: "		n := min(want, max(0, limit-v)/step)\n",
		New: "		n := min(want, max(0, limit-v)/step+1)\n",
	},
	{
		Name: "started-read-before-ended", File: "replace.go", Scenarios: []string{"exact"},
		Old: "	settled, ended := a.settled.Load(), d.ended.Load()\n	bare := d.bare()\n	return settled && bare && d.started.Load() == ended && e.array() == a\n",
		New: "	settled, started := a.settled.Load(), d.started.Load()\n	bare := d.bare()\n	return settled && bare && d.ended.Load() == started && e.array() == a\n",
	},
	{
		Name: "looked-before-hands-were-counted", File: "replace.go", Scenarios: []string{"exact"},
		Old: "	settled, ended := a.settled.Load(), d.ended.Load()\n	bare := d.bare()\n",
		New: "	bare := d.bare()\n	settled, ended := a.settled.Load(), d.ended.Load()\n",
	},
	{
		Name: "array-not-looked-at-again", File: "replace.go", Scenarios: []string{"exact-leave"},
		Old: "d.started.Load() == ended && e.array() == a\n",
		New: "d.started.Load() == ended\n",
	},
	{
		Name: "counts-lost-in-swap", File: "slot.go", Scenarios: []string{"exchange"},
		Old: "	s.n, s.previousN = s.previousN, s.n\n",
		New: "	s.n = s.previousN\n",
	},
	{
		Name: "settled-before-drain", File: "replace.go", Scenarios: []string{"settle"},
		Old: "		c.drain(c.old)\n		c.next.settled.Store(true)\n",
		New: "		c.next.settled.Store(true)\n		c.drain(c.old)\n",
	},
	{
		Name: "searchers-delay-each-other", File: "depot.go", Scenarios: []string{"try2"},
		Old: "	if d.bare() {\n		return nil // and no moment",
		New: "	if false {\n		return nil // and no moment",
	},
	{
		Name: "ageing-hides-a-block", File: "shed.go", Scenarios: []string{"shed-exact"},
		Old: "		d.aged.push(m)\n	}\n	d.ended.Add(1)\n",
		New: "		d.ended.Add(1)\n		d.aged.push(m)\n		return blocks\n	}\n	d.ended.Add(1)\n",
	},
	{
		Name: "shed-while-trimming", File: "shed.go", Scenarios: []string{"shed-trim"},
		Old: "		return 0 // Trim and Close have the depots\n",
		New: "",
	},
	{
		Name: "shed-keeps-its-places", File: "shed.go", Scenarios: []string{"sheds"},
		Old: "	e.release(d, uint32(n))\n",
		New: "",
	},
	{
		Name: "shed-outside-a-section", File: "shed.go", Scenarios: []string{"shed-trim"},
		Old: "	x := e.enterGrown()\n	defer x.Exit()\n",
		New: "	x := e.enterGrown()\n	x.Exit()\n",
	},
	{
		Name: "aged-not-looked-at", File: "depot.go", Scenarios: []string{"shed-exact"},
		Old: "return d.full.empty() && d.aged.empty()",
		New: "return d.full.empty()",
	},
	{
		Name: "aged-not-trimmed", File: "replace.go", Scenarios: []string{"shed-trim"},
		Old: "d.aged.popAll(&e.table)",
		New: "nil",
	},
	{
		Name: "gathered-without-grace", File: "gather.go", Scenarios: []string{"gather"},
		Old: "		gracePeriod()\n",
		New: "",
	},
	{
		Name: "gathered-places-are-kept", File: "gather.go", Scenarios: []string{"gather"},
		Old: "	e.release(d, uint32(room-n))\n",
		New: "",
	},
	{
		Name: "parts-keep-what-they-give", File: "gather.go", Scenarios: []string{"gather-parts"},
		Old: "				part.add(m.remove())\n",
		New: "				part.add(*m.item(m.n - 1))\n",
	},
	{
		Name: "shed-exact-unsettled", File: "replace.go", Scenarios: []string{"drain-settle"},
		Old: "settled, ended := a.settled.Load(), d.ended.Load()",
		New: "settled, ended := true, d.ended.Load()",
	},
	{
		Name: "shed-exact-forgets-hands", File: "replace.go", Scenarios: []string{"drain"},
		Old: "bare && d.started.Load() == ended &&",
		New: "bare && ended == ended &&",
	},
	{
		Name: "shed-exact-counts-hands-late", File: "replace.go", Scenarios: []string{"drain"},
		Old: "	settled, ended := a.settled.Load(), d.ended.Load()\n	bare := d.bare()\n",
		New: "	bare := d.bare()\n	settled, ended := a.settled.Load(), d.ended.Load()\n",
	},
	{
		Name: "shed-exact-in-another-array", File: "replace.go", Scenarios: []string{"drain-leave"},
		Old: "d.started.Load() == ended && e.array() == a\n",
		New: "d.started.Load() == ended\n",
	},
	{
		Name: "shed-exact-takes-none-for-all", File: "shed.go", Scenarios: []string{"drain"},
		Old: "			if e.bareAt(a, e.depots.At(class)) {\n",
		New: "			if a != nil {\n",
	},
	{
		Name: "shedders-delay-each-other", File: "shed.go", Scenarios: []string{"drains"},
		Old: "	if d.bare() {\n		return 0 // and no moment",
		New: "	if false {\n		return 0 // and no moment",
	},
	{
		Name: "claimant-does-not-enter-direct", File: "replace.go", Scenarios: []string{"room-enter"},
		Old: "			changes = append(changes, change{Engine: e, to: direct})\n			continue\n",
		New: "			old := e.array()\n			next := e.newArray(direct, int(old.procs))\n			e.current.Store(&next.slots[0])\n			e.drain(old)\n			next.settled.Store(true)\n",
	},
	{
		Name: "exchange-does-not-compare", File: "transfer.go", Scenarios: []string{"transfer"},
		Old: "t.cells[i].mark.CompareAndSwap(mark, mine) {\n",
		New: "true {\n			t.cells[i].mark.Store(mine)\n",
	},
	{
		Name: "full-for-full", File: "transfer.go", Scenarios: []string{"transfer-return"},
		Old: "mark != nil && isFull(mark) != isFull(mine) &&",
		New: "mark != nil &&",
	},
	{
		Name: "marks-look-alike", File: "transfer.go", Scenarios: []string{"transfer-return"},
		Old: "(mark) != isFull(mine) && t.cells[i].mark.CompareAndSwap(mark, mine) {\n",
		New: "(mark) != isFull(mine) && t.cells[i].mark.Load() != nil && marked(t.cells[i].mark.Load()) == marked(mark) {\n			t.cells[i].mark.Store(mine)\n",
	},
	{
		Name: "fetch-does-not-compare", File: "transfer.go", Scenarios: []string{"transfer"},
		Old: "isFull(mark) && at.CompareAndSwap(mark, nil) {\n",
		New: "isFull(mark) {\n			at.Store(nil)\n",
	},
	{
		Name: "park-does-not-compare", File: "transfer.go", Scenarios: []string{"transfer-park"},
		Old: "at.Load() == nil && at.CompareAndSwap(nil, fullMark(m)) {\n",
		New: "at.Load() == nil {\n				at.Store(fullMark(m))\n",
	},
	{
		Name: "left-does-not-compare", File: "gather.go", Scenarios: []string{"transfer-left"},
		Old: "mark != nil && at.CompareAndSwap(mark, nil) {\n",
		New: "mark != nil {\n				at.Store(nil)\n",
	},
	{
		Name: "transfer-not-drained", File: "replace.go", Scenarios: []string{"transfer-trim"},
		Old: "				e.unpark(a, class, mark)\n",
		New: "				_ = class\n",
	},
	{
		Name: "stale-without-grace", File: "stale.go", Scenarios: []string{"stale"},
		Old: "		gracePeriod()\n",
		New: "",
	},
	{
		Name: "stale-in-use", File: "stale.go", Scenarios: []string{"stale"},
		Old: "	h.procs.Store(0)\n",
		New: "",
	},
	{
		Name: "stale-asked-twice", File: "exchange.go", Scenarios: []string{"stale-slow"},
		Old: "	return e.OwnSlot(x, slotAt(class))\n",
		New: "	return e.Slot(x, slotAt(class))\n",
	},
	{
		Name: "stale-clears-what-is-idle", File: "stale.go", Scenarios: []string{"stale"},
		Old: "	if s.state != full {\n		s.hot = nil\n	}\n",
		New: "	s.hot = nil\n",
	},
	{
		Name: "stale-while-armed", File: "stale.go", Scenarios: []string{"arm-stale"},
		Old: "h.wasArmed = h.armed.Swap(false)",
		New: "h.wasArmed = h.armed.Load()",
	},
	{
		Name: "stale-disarms", File: "stale.go", Scenarios: []string{"arm-stale"},
		Old: "	if h.wasArmed {\n		h.armed.Store(true)\n	} else {\n		h.procs.Store(uintptr(h.array.procs))\n	}\n",
		New: "	h.armed.Store(h.wasArmed)\n	h.procs.Store(uintptr(h.array.procs))\n",
	},
	{
		Name: "disarmed-without-lock", File: "arm.go", Scenarios: []string{"arm-stale-disarm"},
		Old: "	if !e.mu.TryLock() {\n		return\n	}\n	defer e.mu.Unlock()\n	if e.armed.Load() && ",
		New: "	if ",
	},
	{
		Name: "armed-beyond-the-array", File: "arm.go", Scenarios: []string{"arm-grow"},
		Old: "e.armed.Load() && uint(x.id) < x.array().procs",
		New: "e.armed.Load()",
	},
	{
		Name: "replacing-disarms", File: "replace.go", Scenarios: []string{"arm-trim"},
		Old: "		if !c.armed.Load() {\n			c.procs.Store(uintptr(c.next.procs))\n		}\n",
		New: "		c.procs.Store(uintptr(c.next.procs))\n",
	},
}
