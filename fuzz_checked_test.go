package dewpond_test

import (
	"slices"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
)

// FuzzCheckedBytePool is FuzzBytePool with CheckAll: of all that a script does, misuse is
// reported, each once, and nothing else.
//
//	go test -run '^$' -fuzz FuzzCheckedBytePool -fuzzminimizetime 20x .
func FuzzCheckedBytePool(f *testing.F) {
	addScripts(f,
		slices.Concat([][]byte{onePool(0, 1), aKind(0, 0, 0, 0, 0, 0), plainScript()}, checkedScript()),
		[][]byte{onePool(0, 2), aKind(0, 0, 0, 0, 0, 0), leaseScript()},
		slices.Concat([][]byte{twoPools(2, 2), aKind(1, 0, 0, 2, 0, 2), aKind(0, 2, 2, 1, 3, 0)}, checkedScript(), [][]byte{handleScript()}),
		slices.Concat([][]byte{onePool(2, 2), aKind(0, 0, 0, 0, 0, 0), adoptScript()}, checkedScript(), [][]byte{adoptScript()}),
	)
	fuzzPools(f, true, append(slices.Clone(poolOps[:]), (*poolsModel).putAndWrite, (*poolsModel).lookAround))
}

// What FuzzCheckedBytePool does besides.
const (
	opPutAndWrite = byte(len(poolOps)) + iota
	opLookAround
)

func checkedScript() [][]byte {
	return [][]byte{{
		opGet, 0, 0, opGet, 0, 4, opGet, 0, 0, opGet, 0, 12, opGet, 1, 0, opGet, 1, 4,
		opPutAndWrite, 0, 0, opPutAndWrite, 255, 0, opPutAndWrite, 99, 0, opLookAround, opPutTwice, 0, opPutWrong, 0, 2, 0, 3,
		opPutWrong, 0, 1, 0, opPutWrong, 1, 4, 0, opPutWrong, 0, 4, 0, opPutAll, opLookAround, opRest, 5, opLookAround,
		opGet, 0, 12, opGet, 0, 12, opPutAndWrite, 7, 1, opPutAndWrite, 200, 0,
	}}
}

// offended counts a violation, where the pools are checked.
func (p *pooledModel) offended() {
	if p.m.checked {
		p.want.Violations++
	}
}

// counted is how many misuses violations report: one may be of several leaks.
func counted(all []dewpond.Violation) (n int) {
	for _, v := range all {
		n += v.Count
	}
	return n
}

// putAndWrite writes to a block after its Put. Off the heap that may fault.
func (m *poolsModel) putAndWrite() {
	at := m.in.next()
	x := m.takeOut()
	switch {
	case x == nil:
		return
	case offHeap || x.kind != ofClass || x.pool.closed:
		m.putBlock(x, 0)
		return
	}
	p := x.pool
	m.say("Put %d to %d and write", x.size, p.number())
	m.putBlock(x, len(x.b))
	dropped := p.Stats().DroppedFull > p.last.DroppedFull // this block, or one that it drove out of quarantine
	m.check()
	before := len(p.reported())
	x.b[at*(len(x.b)-1)/255]++
	p.trimmed = true
	p.Trim() // which looks at all that is idle
	switch all := p.reported(); {
	case len(all) == before && dropped:
	case len(all) == before+1 && all[before].Kind == dewpond.WriteAfterPut:
		p.offended()
	default:
		m.fail("of a write after Put is reported: %v", all[before:])
	}
}

// lookAround checks that a pool of which nothing is in use has no leaks.
func (m *poolsModel) lookAround() {
	m.say("ReportLeaks")
	for _, p := range m.pools {
		if p.inUse == 0 && p.hintOut == 0 && dewtest.ReportLeaks(p) != 0 {
			m.fail("leaks of pool %d, of which nothing is in use", p.number())
		}
	}
}
