package guardpage

import "time"

// A proof is two pages that tell whether the system still does what guarding rests on.
type proof struct {
	touched []byte // is written to before each look: it must be resident
	left    []byte // was given back, and nobody has it: it must not be
}

// ready reports whether blocks can be guarded now. It asks the system at most once in a while.
func (g *Guard) ready() bool {
	if g.off != "" {
		return false
	}
	if now := time.Now(); now.Sub(g.asked) >= sweepTime {
		g.asked = now
		if g.paused = g.sys.touches(); g.paused != "" {
			g.dropAll() // whatever was done to them
		}
	}
	if g.paused != "" {
		return false
	}
	return g.proof != nil || g.prove()
}

// prove makes the proof, before the first sample.
func (g *Guard) prove() bool {
	page := g.sys.pageSize
	g.proof = &proof{touched: pagesOf(page, page), left: pagesOf(page, page)}
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

// resident reports whether a page is.
func (g *Guard) resident(page []byte) bool {
	is, err := g.sys.resident(page)
	if err != nil {
		g.turnOff("mincore fails: " + err.Error())
		return false
	}
	return is[0]
}
