package region

import (
	"sync"
	"time"
)

// A ledger knows which replicas have which writes of this process.
//
// Redis does not say at what offset a write stands. But a write that was acknowledged before a
// probe began is at most at the offset that the probe then finds the primary at. So probes are
// numbered, a write carries the number of the last one, and a replica that has reached the offset
// of probe n has all writes with a number below n.
type ledger struct {
	mu        sync.Mutex // held for no call of a server
	probe     uint64     // the last that has begun
	marks     []mark     // of one history, ascending
	written   map[string]write
	followers []follower // by the place of the replica
}

// A write is the last one of a key.
type write struct {
	probe uint64
	// The last write failed: whether the primary has it is not known, and an older value may be
	// there until that time, when it has expired.
	doubtful bool
	until    time.Time
}

// A mark is where the primary stood at a probe.
type mark struct {
	probe uint64
	position
}

// A follower is what is known of a replica.
type follower struct {
	has   uint64 // all writes with a number below
	needs uint64 // it is not read until it has as much
	last  position
}

// Bounds of a ledger's memory.
const (
	mostMarks  = 64
	mostWrites = 1 << 16
)

func newLedger(replicas int) *ledger {
	l := &ledger{written: map[string]write{}, followers: make([]follower, replicas)}
	for i := range l.followers {
		l.followers[i].needs = 1 // what other processes have written until the first probe
	}
	return l
}

// wrote takes note of a write that was acknowledged.
func (l *ledger) wrote(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.followers) == 0 {
		delete(l.written, key)
		return
	}
	l.written[key] = write{probe: l.probe}
}

// failed takes note of a write that failed: what it was to replace may be there for so long.
func (l *ledger) failed(key string, life time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written[key] = write{probe: l.probe, doubtful: true, until: time.Now().Add(life)}
}

// doubtful reports whether the last write of a key failed.
func (l *ledger) doubtful(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written[key].doubtful
}

// A reason is why a read goes where it goes.
type reason int

const (
	hasAll   reason = iota // the replica has all that is known to be written of the key
	lacksKey               // it lacks a write of the key
	outOfUse               // it is too far behind, or nobody knows where it stands
)

// may says whether a replica may be asked for a key.
func (l *ledger) may(replica int, key string) reason {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &l.followers[replica]
	if !f.inUse() {
		return outOfUse
	}
	if w, ok := l.written[key]; ok && w.probe >= f.has {
		return lacksKey
	}
	return hasAll
}

func (f *follower) inUse() bool { return f.has >= f.needs }

// begin numbers a probe. What is acknowledged until then, the probe's offsets include.
func (l *ledger) begin() (probe uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.probe++
	return l.probe
}

// stands takes note of where the primary stood when it was asked by a probe, of the last one that
// has begun.
func (l *ledger) stands(p position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.marks); n > 0 {
		last := &l.marks[n-1]
		switch {
		case last.history != p.history || last.offset > p.offset: // another history begins
			l.marks = l.marks[:0]
			for i := range l.followers {
				l.followers[i] = follower{needs: l.probe}
			}
		case last.offset == p.offset:
			last.probe = l.probe
			return
		case n == mostMarks: // every other will do: a replica waits for the next
			for i := range n / 2 {
				l.marks[i] = l.marks[2*i+1]
			}
			l.marks = l.marks[:n/2]
		}
	}
	l.marks = append(l.marks, mark{l.probe, p})
}

// follows takes note of where a replica stands, which was asked after the primary had answered
// (or had not).
func (l *ledger) follows(replica int, p position, err error, primaryAnswered bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &l.followers[replica]
	comparable := err == nil && len(l.marks) > 0 && p.history == l.marks[0].history
	if !comparable || !p.linked && primaryAnswered || comparable && p.history == f.last.history && p.offset < f.last.offset {
		// It is gone, cut off or began anew. What it has now, the next marks say.
		f.needs, f.last = l.probe, p
		if !comparable || !p.linked {
			return
		}
		f.has = 0
	}
	f.last = p
	for _, m := range l.marks {
		if m.offset <= p.offset {
			f.has = max(f.has, m.probe)
		}
	}
}

// forget drops what no replica that is read needs any more.
func (l *ledger) forget(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.written) > mostWrites {
		for i := range l.followers { // they are not read until they have caught up
			if f := &l.followers[i]; f.has < l.probe {
				f.needs = l.probe
			}
		}
	}
	least := l.probe
	for _, f := range l.followers {
		least = min(least, max(f.has, f.needs))
	}
	for key, w := range l.written {
		if w.doubtful && now.After(w.until) || !w.doubtful && w.probe < least {
			delete(l.written, key)
		}
	}
}

// lag is how many bytes of writes a replica lacked at the last probe; ok is false where nobody
// knows.
func (l *ledger) lag(replica int) (bytes int64, inUse, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &l.followers[replica]
	if len(l.marks) == 0 || f.last.history != l.marks[0].history {
		return 0, f.inUse(), false
	}
	return max(0, l.marks[len(l.marks)-1].offset-f.last.offset), f.inUse(), true
}
