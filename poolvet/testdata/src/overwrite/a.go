// Package overwrite has pools that change while they are in use.
package overwrite

import (
	"flag"
	"os"
	"sync"

	"github.com/dewpond/dewpond"
)

// A Writer is as https://github.com/klauspost/pgzip/issues/30 has it.
type Writer struct {
	blocks sync.Pool
	size   int
}

func (w *Writer) SetSize(n int) {
	w.size = n
	w.blocks = sync.Pool{New: func() any { return make([]byte, n) }} // want `w.blocks is overwritten, where Get at a.go:\d+:\d+ may run: .* \(overwrite\)`
}

func (w *Writer) SetNew(n int) {
	w.blocks.New = func() any { return make([]byte, n) } // want `w.blocks.New is set, where Get`
}

func (w *Writer) SetUnlessSame(n int) {
	if n == w.size {
		return
	}
	w.size = n
	w.blocks = sync.Pool{New: func() any { return make([]byte, n) }} // want `w.blocks is overwritten`
}

func (w *Writer) Purge() {
	pool := &w.blocks
	*pool = sync.Pool{New: pool.New} // want `is overwritten`
}

func (w *Writer) get() []byte  { return w.blocks.Get().([]byte) }
func (w *Writer) put(b []byte) { w.blocks.Put(b) }

var shared sync.Pool

func read(n int) int {
	shared.New = func() any { return make([]byte, n) } // want `shared.New is set on each call, where the Get at a.go:\d+:\d+ of another call may run`
	b := shared.Get().([]byte)
	defer shared.Put(b)
	return len(b[:n])
}

func ResetShared() {
	shared = sync.Pool{} // want `shared is overwritten`
}

var bytes dewpond.BytePool

func UpdateBytes() {
	bytes = dewpond.BytePool{} // want `bytes is overwritten`
}

func useBytes() {
	b := bytes.Get(10)
	bytes.Put(b)
}

func handlers(n int) []func() {
	var pool sync.Pool
	return []func(){func() {
		pool.New = func() any { return new(int) } // want `pool.New is set on each call`
		pool.Put(pool.Get())
	}}
}

func beside(done chan struct{}) {
	var pool sync.Pool
	go func() {
		pool.Put(pool.Get())
		close(done)
	}()
	pool.New = func() any { return new(int) } // want `pool.New is set, but the goroutine started at a.go:\d+:\d+ may be using it`
	<-done
}

type locked struct {
	mu   sync.Mutex
	pool sync.Pool
}

func (l *locked) Reload(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pool = sync.Pool{New: func() any { return make([]byte, n) }} // want `l.pool is overwritten`
}

func (l *locked) use() { l.pool.Put(l.pool.Get()) }

type allLocked struct {
	mu   sync.Mutex
	pool sync.Pool
}

// What follows is right.

func (l *allLocked) Reload(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pool = sync.Pool{New: func() any { return make([]byte, n) }}
}

func (l *allLocked) use() {
	l.mu.Lock()
	l.help()
	l.mu.Unlock()
}

func (l *allLocked) help() { l.pool.Put(l.pool.Get()) }

func NewWriter(n int) *Writer {
	w := &Writer{size: n}
	w.blocks = sync.Pool{New: func() any { return make([]byte, n) }}
	w.put(w.blocks.Get().([]byte))
	return w
}

func newPlain(n int) (w Writer) {
	w.blocks.New = func() any { return make([]byte, n) }
	w.blocks.Put(w.blocks.Get())
	return
}

func (w *Writer) init(n int) {
	w.blocks = sync.Pool{New: func() any { return make([]byte, n) }}
}

func (w *Writer) setBlocks(n int) { w.blocks.New = func() any { return make([]byte, n) } }

func (w *Writer) setAgain(n int) { w.setBlocks(n) }

func open(n int) *Writer {
	w := new(Writer)
	w.init(n)
	w.setAgain(n)
	return w
}

func (w *Writer) SetupBlocks(n int) { w.blocks.New = func() any { return make([]byte, n) } }

// SetBlockSize sets the size of blocks. It must be called before the first write.
func (w *Writer) SetBlockSize(n int) { w.blocks.New = func() any { return make([]byte, n) } }

func (w *Writer) Reset() { *w = Writer{size: w.size, blocks: sync.Pool{New: w.blocks.New}} }

type lazy struct {
	mu    sync.Mutex
	once  sync.Once
	ready bool
	pool  sync.Pool
}

func (l *lazy) get() any {
	l.once.Do(func() { l.pool.New = func() any { return new(int) } })
	return l.pool.Get()
}

func (l *lazy) getLocked() any {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pool.New = func() any { return new(int) }
	return l.pool.Get()
}

func (l *lazy) getGuarded() any {
	if l.pool.New == nil {
		l.pool.New = func() any { return new(int) }
	}
	return l.pool.Get()
}

func (l *lazy) getReady() any {
	if !l.ready {
		l.ready = true
		l.pool.New = func() any { return new(int) }
	}
	return l.pool.Get()
}

func (l *lazy) put(v any) { l.pool.Put(v) }

var global sync.Pool

func init() {
	global.New = func() any { return new(int) }
	global.Put(global.Get())
}

func setGlobal() { global.New = func() any { return new(int) } }

func useGlobal() { global.Put(global.Get()) }

func main() {
	flag.Parse()
	setGlobal()
	global.New = func() any { return new(int) }
	useGlobal()
	os.Exit(0)
}

func fill(p *sync.Pool, n int) {
	p.New = func() any { return make([]byte, n) }
	for range n {
		p.Put(p.New())
	}
}

func waited() {
	var pool sync.Pool
	done := make(chan struct{})
	go func() {
		pool.Put(pool.Get())
		close(done)
	}()
	<-done
	pool = sync.Pool{New: func() any { return new(int) }}
	go func() { pool.Put(pool.Get()) }()
}

func eachTurn(n int) {
	for range n {
		var pool sync.Pool
		pool.New = func() any { return new(int) }
		go func() { pool.Put(pool.Get()) }()
	}
}

type replaced struct{ pool *sync.Pool }

// SetPool has what is in use go back to the pool that it is out of.
func (r *replaced) SetPool(n int) {
	r.pool = &sync.Pool{New: func() any { return make([]byte, n) }}
}

func (r *replaced) get() any { return r.pool.Get() }
