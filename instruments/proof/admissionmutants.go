package proof

// AdmissionMutants are the bugs that the explorer must find in internal/admission.
var AdmissionMutants = []Mutant{
	// Wake-ups that get lost.
	{
		Name: "waiter-looks-before-it-counts", File: "queue.go", Scenarios: []string{"wake"},
		Old: "	g.engine.Wait(w.class, 1)\n	w.bringLocked()\n	g.offerBlocksLocked(w.class) // what was put back before anybody could see this waiter\n",
		New: "	w.bringLocked()\n	g.offerBlocksLocked(w.class)\n	g.engine.Wait(w.class, 1)\n",
	},
	{
		Name: "put-does-not-look", File: "put.go", Scenarios: []string{"wake"},
		Old: "	g.returned()\n	g.offerBlocks(class)\n",
		New: "	g.returned()\n",
	},
	{
		Name: "put-looks-before-the-claims", File: "put.go", Scenarios: []string{"turns-claim"},
		Old: "	g.returned()\n	g.offerBlocks(class)\n",
		New: "	g.offerBlocks(class)\n	g.returned()\n",
	},
	{
		Name: "put-does-not-look-for-claims", File: "put.go", Scenarios: []string{"room"},
		Old: "	g.returned()\n	g.offerBlocks(class)\n",
		New: "	g.offerBlocks(class)\n",
	},
	{
		Name: "drop-serves-nobody", File: "put.go", Scenarios: []string{"room-full"},
		Old: "	defer g.account.grantBytes()\n	g.Drop(class, block, &l)\n",
		New: "	g.Drop(class, block, &l)\n",
	},
	{
		Name: "decay-serves-nobody", File: "put.go", Scenarios: []string{"room-decay"},
		Old: "	defer g.account.grantBytesInReach()\n	g.shedInDepot(class, n)\n",
		New: "	g.shedInDepot(class, n)\n",
	},
	{
		Name: "claim-looks-before-it-counts", File: "room.go", Scenarios: []string{"room-full"},
		Old: "	if b.waiting.Add(1) > 1 {\n",
		New: "	if b.waiting.Load() == 0 {\n		a := w.gate.account\n		made := a.reserve(w.size())\n		if !made {\n			b.enterDirectLocked()\n			made = a.makeRoomLocked(w.size())\n		}\n		if b.waiting.Add(1); made {\n			w.allowLocked()\n		}\n		return\n	}\n	if b.waiting.Add(1) > 1 {\n",
	},
	{
		Name: "spilled-past-a-waiter", File: "put.go", Scenarios: []string{"tier"},
		Old: "			g.offerBlocks(class) // to a waiter that came after Push looked\n",
		New: "",
	},
	{
		Name: "direct-mode-left-while-somebody-waits", File: "queue.go", Scenarios: []string{"wake-leaves"},
		Old: "	if q.waiting.Load() == 0 && g.account.mayLeaveDirect() {\n",
		New: "	if g.account.mayLeaveDirect() {\n",
	},

	// Permissions of AllocRate that are not given back.
	{
		Name: "miss-of-the-served-is-lost", File: "waiter.go", Scenarios: []string{"miss-cancel"},
		Old: "		w.restoreLocked(w.misses)\n",
		New: "",
	},
	{
		Name: "miss-of-the-failed-is-lost", File: "gate.go", Scenarios: []string{"miss"},
		Old: "	defer g.returnMisses(n) // also if UnchargeBytes cannot wake somebody\n",
		New: "",
	},
	{
		Name: "miss-of-the-failed-serves-nobody", File: "gate.go", Scenarios: []string{"miss"},
		Old: "		g.queue.armed = 0 // a batch may need to wait for fewer now\n	}\n	g.allowLocked()\n",
		New: "		g.queue.armed = 0\n	}\n",
	},

	// Bytes of a Budget that are charged twice, or past its limit.
	{
		Name: "bit-cleared-and-not-looked-again", File: "members.go", Scenarios: []string{"room-look"},
		Old: "if at.holding.And(^(1 << i)); g == nil || g.engine.Reserved() == 0 {\n",
		New: "if at.holding.And(^(1 << i)); true {\n",
	},
	{
		Name: "kept-in-a-shard-while-somebody-waits", File: "put.go", Scenarios: []string{"room-late"},
		Old: "	case magazine.Kept:\n		g.kept(class)\n",
		New: "	case magazine.Kept:\n		g.owner.Kept()\n",
	},
	{
		Name: "room-found-and-charged-again", File: "room.go", Scenarios: []string{"room-charge"},
		Old: "		*charged = true\n		return\n",
		New: "		*charged = true\n",
	},
	{
		Name: "charge-checks-then-acts", File: "budget.go", Scenarios: []string{"room-charge"},
		Old: "		if b.used.CompareAndSwap(used, used+int64(n)) {\n",
		New: "		if b.used.Add(int64(n)) > 0 {\n",
	},

	// Waiters that are served out of order.
	{
		Name: "younger-is-handed-a-block", File: "room.go", Scenarios: []string{"turns"},
		Old: "	return first != nil && first.turn < w.turn\n",
		New: "	return first != nil && first.turn < 0*w.turn\n",
	},
	{
		Name: "delayed-goes-last", File: "room.go", Scenarios: []string{"turns-limit"},
		Old: "		b.claims.MoveBefore(w.claim, place) // this one came before and was delayed by AllocRate\n",
		New: "		break\n",
	},
	{
		Name: "next-claim-is-not-served", File: "waiter.go", Scenarios: []string{"room-next"},
		Old: "	w.gate.account.budget.grantBytesLocked()\n",
		New: "",
	},

	// Waiters that give up while a block is handed to them.
	{
		Name: "cancel-looks-before-the-lock", File: "waiter.go", Scenarios: []string{"cancel"},
		Old: "	w.gate.queue.mu.Lock()\n	defer w.gate.queue.unlock()\n	if w.granted() { // just before the lock was ours\n		return false\n	}\n",
		New: "	if w.granted() {\n		return false\n	}\n	w.gate.queue.mu.Lock()\n	defer w.gate.queue.unlock()\n",
	},

	// Waiters for several blocks, which hold some while they wait for the others.
	{
		Name: "batch-keeps-what-an-older-one-needs", File: "room.go", Scenarios: []string{"batch-take-back"},
		Old: "			if younger == nil || younger.turn <= w.turn || b.firstClaim() != w {\n",
		New: "			if younger == nil || younger.turn <= w.turn || len(younger.blocks) > 0 {\n",
	},
	{
		Name: "batch-brings-past-an-older-claim", File: "queue.go", Scenarios: []string{"batch-brings"},
		Old: "(g.queue.firstOf(w.class) != w || g.account.olderLocked(w)) {\n",
		New: "g.queue.firstOf(w.class) != w {\n",
	},
	{
		Name: "batch-brings-past-an-older-waiter", File: "queue.go", Scenarios: []string{"batch-brings-first"},
		Old: "(g.queue.firstOf(w.class) != w || g.account.olderLocked(w)) {\n",
		New: "g.account.olderLocked(w) {\n",
	},
	{
		Name: "batch-brings-although-it-is-served", File: "queue.go", Scenarios: []string{"batch-brings-late"},
		Old: "len(w.blocks) > 0 && !w.granted() && (",
		New: "len(w.blocks) > 0 && (",
	},
	{
		Name: "batch-brings-although-it-has-bytes", File: "queue.go", Scenarios: []string{"batch-brings-bytes"},
		Old: "len(w.blocks) > 0 && !w.granted() && (",
		New: "len(w.blocks) > 0 && (",
	},
	{
		Name: "batch-that-wants-less-is-not-served", File: "waiter.go", Scenarios: []string{"batch-room"},
		Old: "		w.gate.account.budget.grantBytesLocked() // it wants fewer bytes than before\n",
		New: "",
	},
	{
		Name: "batch-keeps-its-blocks-when-it-gives-up", File: "waiter.go", Scenarios: []string{"batch-cancel"},
		Old: "	w.gate.queue.refusedNow()\n	w.putBack()\n",
		New: "	w.gate.queue.refusedNow()\n",
	},
	{
		Name: "next-in-line-is-not-served", File: "waiter.go", Scenarios: []string{"batch-line"},
		Old: "		w.gate.allowLocked() // the next in line may want fewer misses\n",
		New: "",
	},
	{
		Name: "batch-that-wants-fewer-misses-is-not-served", File: "waiter.go", Scenarios: []string{"batch-limit"},
		Old: "		w.gate.allowLocked() // it wants fewer misses than before\n",
		New: "",
	},
	{
		Name: "batch-keeps-its-claim-with-too-few-misses", File: "room.go", Scenarios: []string{"batch-in-line"},
		Old: "			younger.backInLineLocked()\n",
		New: "",
	},
	{
		Name: "misses-that-a-batch-did-not-need-are-lost", File: "waiter.go", Scenarios: []string{"batch-limit-room"},
		Old: "	w.restoreLocked(w.misses - w.lacks())\n",
		New: "",
	},
	{
		Name: "batch-that-is-never-allowed-waits", File: "waiter.go", Scenarios: []string{"batch-never"},
		Old: "	case !w.gate.limiter.ever(w.n) && w.giveUp():\n		return ErrExhausted\n",
		New: "",
	},
	{
		Name: "blocks-of-the-closed-are-lost", File: "waiter.go", Scenarios: []string{"batch-close"},
		Old: "	w.gate.closeBlocksLocked(w, &w.gate.queue.late)\n",
		New: "",
	},
	{
		Name: "batch-is-served-in-part", File: "waiter.go", Scenarios: []string{"batch-rooms"},
		Old: "	return w.gate.sizes[w.class] * w.lacks()\n",
		New: "	return w.gate.sizes[w.class]\n",
	},

	// Close while a waiter waits, or is handed a block.
	{
		Name: "block-of-the-closed-is-lost", File: "put.go", Scenarios: []string{"close-hand"},
		Old: "		r = g.engine.PushSlow(class, block) // the waiter has gone\n",
		New: "		return\n",
	},
	{
		Name: "handed-and-closed", File: "waiter.go", Scenarios: []string{"close-hand"},
		Old: "		w.passOnLocked()\n		w.send(nil)\n",
		New: "		w.send(nil)\n",
	},
	{
		Name: "enlisted-in-a-closed-pool", File: "queue.go", Scenarios: []string{"wake-close"},
		Old: "	if !g.engine.EnterDirect() {\n		return false\n	}\n	if !q.sleepers",
		New: "	g.engine.EnterDirect()\n	if !q.sleepers",
	},
	{
		Name: "claims-outlive-close", File: "queue.go", Scenarios: []string{"close-claim"},
		Old: "		g.account.budget.endClaimsLocked(g)\n",
		New: "",
	},
}
