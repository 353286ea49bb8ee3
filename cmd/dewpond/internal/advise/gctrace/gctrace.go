// Package gctrace reads what a program with GODEBUG=gctrace=1 writes on standard error, among all else
// that it writes there. The format is that of Go 1.19 to 1.26.
package gctrace

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"time"
)

// A Cycle is one line: a collection. Go cuts the bytes to whole MiB, so each is up to one MiB less
// than it was. The line has nothing of what the cycle before it has freed.
type Cycle struct {
	Number  int64
	Start   time.Duration // since the program started
	Clock   time.Duration // of the whole cycle
	Pause   time.Duration // of that, how long the world was stopped
	Working time.Duration // processor time, without what ran where a processor was idle
	Idle    time.Duration // and that

	Begin, End, Live int64 // MiB of heap as the cycle began, as marking ended, and of that what was found alive
	Goal             int64 // MiB of heap that marking should have ended at
	Stacks, Globals  int64 // MiB scanned beside the heap
	Procs            int   // GOMAXPROCS
	Forced           bool  // by runtime.GC, and not because of the goal
}

// MiB is the unit of a Cycle's bytes.
const MiB = 1 << 20

// A Count says what a text had.
type Count struct {
	Cycles int64 // lines that are whole
	Broken int64 // lines that begin as such a line does and go on otherwise: other output fell into them
	Lines  int64
}

// ErrNone means that a text has no line of gctrace.
var ErrNone = errors.New("no line of gctrace: start the program with GODEBUG=gctrace=1, and keep what it writes on standard error")

// longest is how much of a line is looked at: the runtime's own are some 200 bytes long.
const longest = 64 << 10

// Read calls each with every whole line of gctrace, in order. It keeps none of them.
func Read(r io.Reader, each func(Cycle)) (Count, error) {
	var n Count
	in := bufio.NewReaderSize(r, longest)
	for {
		line, err := in.ReadSlice('\n')
		cut := errors.Is(err, bufio.ErrBufferFull)
		if len(line) > 0 {
			n.Lines++
			switch c, found, ok := find(line); {
			case ok:
				n.Cycles++
				each(c)
			case found:
				n.Broken++
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a line that is none of the runtime's
			_, err = in.ReadSlice('\n')
		}
		switch {
		case errors.Is(err, io.EOF) && n.Cycles == 0:
			return n, ErrNone
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil && !cut:
			return n, err
		}
	}
}

// Is reports whether a text, or its beginning, has a line of gctrace.
func Is(text []byte) bool {
	for line := range bytes.Lines(text) {
		if _, _, ok := find(line); ok {
			return true
		}
	}
	return false
}

// find looks for a cycle in a line, behind whatever was written there without a line's end.
func find(line []byte) (c Cycle, found, ok bool) {
	for rest := line; ; {
		at := bytes.Index(rest, []byte("gc "))
		if at < 0 {
			return c, found, false
		}
		rest = rest[at:]
		p := scanner{text: rest}
		p.literal("gc ")
		c = Cycle{Number: p.whole()}
		p.literal(" @")
		if !p.failed {
			found = true
			if p.cycle(&c); !p.failed {
				return c, true, true
			}
		}
		rest = rest[len("gc "):]
	}
}

// A scanner reads the parts of a line. Once one is not there, failed is set, and all that follow are 0.
type scanner struct {
	text   []byte
	failed bool
}

// cycle reads what is behind the number, as printed in (*gcWork).gcMarkTermination of the runtime.
func (p *scanner) cycle(c *Cycle) {
	c.Start = p.duration(time.Second)
	p.literal("s ")
	p.whole()
	p.literal("%")
	p.optional(" (checking for goroutine leaks)")
	p.literal(": ")
	stopped := p.duration(time.Millisecond)
	p.literal("+")
	marking := p.duration(time.Millisecond)
	p.literal("+")
	ending := p.duration(time.Millisecond)
	p.literal(" ms clock, ")
	c.Pause, c.Clock = stopped+ending, stopped+marking+ending
	c.Working = p.duration(time.Millisecond)
	p.literal("+")
	c.Working += p.duration(time.Millisecond) // assists
	p.literal("/")
	c.Working += p.duration(time.Millisecond) // dedicated and fractional workers
	p.literal("/")
	c.Idle = p.duration(time.Millisecond)
	p.literal("+")
	c.Working += p.duration(time.Millisecond)
	p.literal(" ms cpu, ")
	c.Begin = p.whole()
	p.literal("->")
	c.End = p.whole()
	p.literal("->")
	c.Live = p.whole()
	p.literal(" MB, ")
	c.Goal = p.whole()
	p.literal(" MB goal, ")
	c.Stacks = p.whole()
	p.literal(" MB stacks, ")
	c.Globals = p.whole()
	p.literal(" MB globals, ")
	c.Procs = int(p.whole())
	p.literal(" P")
	c.Forced = p.optional(" (forced)")
}

func (p *scanner) literal(s string) {
	if !p.optional(s) {
		p.failed = true
	}
}

func (p *scanner) optional(s string) bool {
	if p.failed || !bytes.HasPrefix(p.text, []byte(s)) {
		return false
	}
	p.text = p.text[len(s):]
	return true
}

// most is more than any number of a line can be: terabytes of heap, and centuries.
const most = 1 << 40

// whole reads a number without a sign.
func (p *scanner) whole() int64 {
	n := 0
	for n < len(p.text) && p.text[n] >= '0' && p.text[n] <= '9' {
		n++
	}
	v, err := strconv.ParseInt(string(p.text[:n]), 10, 64)
	if p.failed || err != nil || v > most {
		p.failed = true
		return 0
	}
	p.text = p.text[n:]
	return v
}

// duration reads a number that may have a fraction.
func (p *scanner) duration(unit time.Duration) time.Duration {
	n := 0
	for n < len(p.text) && (p.text[n] >= '0' && p.text[n] <= '9' || p.text[n] == '.') {
		n++
	}
	v, err := strconv.ParseFloat(string(p.text[:n]), 64)
	if p.failed || err != nil || v*float64(unit) > 1<<62 {
		p.failed = true
		return 0
	}
	p.text = p.text[n:]
	return time.Duration(math.Round(v * float64(unit)))
}
