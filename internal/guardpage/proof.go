package guardpage

import "time"

// A proof is two pages that tell whether the system still does what guarding rests on.
type proof struct {
	touched []byte // is written to before each look: it must be resident
	left    []byte // was given back, and nobody has it: it must not be
}

// ready reports whether blocks can be guarded now, by the newest answer of the system.
func (g *Guard) ready() bool {
	switch {
	case g.off != "":
		return false
	case g.setting.Fault:
		return true // whoever faults has touched the block: nothing is concluded from what the system says
	case g.answered == 0, g.paused != "":
		return false
	}
	return g.proof != nil || g.prove()
}

// askInTime is ask, if the last time was a while ago. Whoever comes while another asks goes on with the
// answer before that. Until there is a first one nothing is sampled.
func (g *Guard) askInTime() {
	if g.off == "" && !g.setting.Fault && time.Since(g.asked) >= sweepTime {
		g.ask()
	}
}

// ask asks the system what else may touch pages now. That reads files, so it lets go of the lock meanwhile:
// its caller must not rely on anything that it has read before. Two may ask at a time, where reading
// takes long or belief needs a new answer; that to the later question stays, whichever comes last.
func (g *Guard) ask() {
	g.asked = time.Now()
	g.questions++
	question := g.questions
	g.mu.Unlock()
	who := g.sys.touches()
	unasked := g.sys.unasked()
	g.mu.Lock()
	if question < g.answered {
		return
	}
	if unasked != g.unasked { // what is known of pages was so before; nothing is, until the next answer
		if g.answered != 0 && who == "" {
			who = "the kernel has begun, or ended, to make huge pages unasked"
		}
		g.forgetProof()
		g.unasked = unasked
	}
	g.answered = question
	if g.paused = who; who != "" {
		g.dropAll() // whatever was done to them
		g.news(Pauses, who)
	}
}

// prove makes the proof, before the first sample.
func (g *Guard) prove() bool {
	touched, left := g.pagesFor(g.sys.pageSize), g.pagesFor(g.sys.pageSize)
	if touched == nil || left == nil {
		return false
	}
	g.proof = &proof{touched, left}
	g.proof.left[0] = 1
	if !g.resident(g.proof.left) {
		g.turnOff("mincore calls a page absent that is in use")
		return false
	}
	if err := g.sys.giveBack(g.proof.left); err != nil {
		g.turnOff("the system does not take pages back: " + err.Error())
		return false
	}
	return g.proven()
}

// proven reports whether a page that was touched is resident, and one that was given back and that
// nobody has is not. If that one is, and still is after it was given back once more, guarding is off
// for good. If it is not any more, something has read all of the heap, as debug.WriteHeapDump does
// and who reads the process's memory from outside: then nothing is known of what is in the queue.
func (g *Guard) proven() bool {
	g.proof.touched[0]++
	if !g.resident(g.proof.touched) {
		g.turnOff("mincore calls a page absent that is in use")
		return false
	}
	if !g.resident(g.proof.left) {
		return g.off == ""
	}
	if err := g.sys.giveBack(g.proof.left); err != nil || g.resident(g.proof.left) {
		g.turnOff("mincore calls a page resident that was given back")
		return false
	}
	g.dropAll()
	return false
}

// forgetProof has the proof made anew before the next sample.
func (g *Guard) forgetProof() {
	if g.proof != nil && g.unasked {
		g.region.free(addressOf(g.proof.touched), g.sys.pageSize)
		g.region.free(addressOf(g.proof.left), g.sys.pageSize)
	}
	g.proof = nil
}

// resident reports whether a page is.
func (g *Guard) resident(page []byte) bool {
	is, err := g.sys.resident(page)
	if err != nil {
		g.turnOff("mincore fails: " + err.Error())
		return false
	}
	return is[0]
}
