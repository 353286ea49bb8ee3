// Package right has code that once was accused and is right. No check finds anything in it.
package right

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/dewpond/dewpond"
)

var (
	blocks  = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "right"})
	buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	numbers = sync.Pool{New: func() any { return make([]int, 0, 64) }}
	readers = sync.Pool{New: func() any { return bufio.NewReader(nil) }}
	sinks   = sync.Pool{New: func() any { return new(sink) }}
)

var errShort = errors.New("short")

// A sink is what asSink makes of a writer, as tinylib/msgp's Writer.
type sink struct {
	to   io.Writer
	line [80]byte
}

func (s *sink) Write(p []byte) (int, error) { return s.to.Write(p) }

func asSink(w io.Writer) *sink {
	if s, ok := w.(*sink); ok {
		return s
	}
	s := sinks.Get().(*sink)
	s.to = w
	return s
}

func export(w io.Writer, line string) error {
	s := asSink(w)
	_, err := io.WriteString(s, line)
	sinks.Put(s)
	return err
}

func exported() (string, error) {
	var out bytes.Buffer
	if err := export(&out, "x"); err != nil {
		return "", err
	}
	return out.String(), nil
}

func exportedTo(w io.Writer) error {
	if err := export(w, "x"); err != nil {
		return err
	}
	_, err := w.Write([]byte("\n"))
	return err
}

// sorted returns its argument, or puts it back and returns another, as Loki's Finalize.
func sorted(ns []int) []int {
	if len(ns) < 2 {
		return ns
	}
	out := numbers.Get().([]int)[:0]
	for _, n := range ns {
		if i, found := slices.BinarySearch(out, n); !found {
			out = slices.Insert(out, i, n)
		}
	}
	if len(out) == len(ns) {
		numbers.Put(out)
		return ns
	}
	numbers.Put(ns)
	return out
}

func sortedInMap(all map[string][]int) {
	for k := range all {
		all[k] = sorted(all[k])
	}
}

func sortedFirst(ns []int) int {
	ns = sorted(ns)
	return ns[0]
}

func sortedOnce() int {
	ns := numbers.Get().([]int)
	ns = sorted(append(ns, 3, 2, 1))
	first := ns[0]
	numbers.Put(ns)
	return first
}

// roomy appends to what it has got.
func roomy(b []byte, n int) []byte {
	if cap(b) >= n {
		return b[:n]
	}
	c := append(blocks.Get(n)[:0], b...)
	blocks.Put(b)
	return c
}

type frame struct{ body []byte }

func (f *frame) extend(n int) { f.body = roomy(f.body, n) }

func extended(n int) byte {
	b := blocks.Get(16)
	b = roomy(b, n)
	b[0] = 1
	first := b[0]
	blocks.Put(b)
	return first
}

// unpooled returns memory that is no pool's.
func unpooled(b []byte) []byte {
	if cap(b) > 1<<16 {
		return b
	}
	c := make([]byte, len(b))
	copy(c, b)
	blocks.Put(b)
	return c
}

func detached(n int) byte {
	b := blocks.Get(n)
	b = unpooled(b)
	return b[0]
}

// withError does what roomy does, and may fail.
func withError(b []byte, n int) ([]byte, error) {
	if cap(b) >= n {
		return b[:n], nil
	}
	if n > 1<<20 {
		return nil, errShort
	}
	c := blocks.Get(n)
	copy(c, b)
	blocks.Put(b)
	return c, nil
}

func extendedOrNot(b []byte, n int) (byte, error) {
	b, err := withError(b, n)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// checked puts back only where it returns an error.
func checked(b *bytes.Buffer) error {
	if b.Len() == 0 {
		buffers.Put(b)
		return errShort
	}
	return nil
}

func usedIfChecked() (int, error) {
	b := buffers.Get().(*bytes.Buffer)
	if err := checked(b); err != nil {
		return 0, err
	}
	n := b.Len()
	buffers.Put(b)
	return n, nil
}

// accepts puts back where it returns false.
func accepts(b []byte) bool {
	if len(b) > 5 {
		blocks.Put(b)
		return false
	}
	return true
}

func usedIfAccepted() byte {
	b := blocks.Get(10)
	if !accepts(b) {
		return 0
	}
	first := b[0]
	blocks.Put(b)
	return first
}

// A file may be closed twice: its handle says whether it was.
type file struct {
	f    *os.File
	r    *bufio.Reader
	left int
}

func (f *file) Close() error {
	if f.f == nil {
		return nil
	}
	err := f.f.Close()
	readers.Put(f.r)
	f.f = nil
	return err
}

func closedTwice(f *file) error {
	defer f.Close()
	if f.r.Buffered() > 0 {
		return f.Close()
	}
	if err := f.Close(); err != nil {
		return err
	}
	return f.Close()
}

// release is guarded by a field that it sets first.
func (f *file) release() {
	if f.left <= 0 {
		return
	}
	f.left = 0
	readers.Put(f.r)
}

func releasedTwice(f *file) {
	f.release()
	f.release()
}

// A summer is of one of two kinds, as minio-go's hashWrapper, which no function shows.
type summer struct {
	b          *bytes.Buffer
	long, fast bool
}

func (s *summer) Close() {
	if s.long && s.b != nil {
		s.b.Reset()
		buffers.Put(s.b)
	}
	if s.fast && s.b != nil {
		s.b.Reset()
		buffers.Put(s.b)
	}
	s.b = nil
}

// load returns an empty block where there is no file.
func load(name string) ([]byte, error) {
	b := blocks.Get(4096)
	f, err := os.Open(name)
	if err != nil {
		return b[:0], err
	}
	defer f.Close()
	n, err := f.Read(b)
	return b[:n], err
}

func loaded(name, older string) ([]byte, error) {
	b, err := load(name)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			return b, err
		}
		blocks.Put(b)
		if older != "" {
			if b, err = os.ReadFile(older); err != nil {
				return nil, err
			}
		}
	}
	if len(b) == 0 {
		return b, errShort
	}
	b[0] = 0
	return b, nil
}

// A job is work for a loop over leases.
type job struct {
	key  string
	body dewpond.Lease
}

func work(key string, body []byte) {}

func fromChannel(jobs chan job) {
	for j := range jobs {
		work(j.key, j.body.Bytes())
		j.body.Release()
	}
}

func fromSlice(jobs []job) {
	for _, j := range jobs {
		work(j.key, j.body.Bytes())
		j.body.Release()
	}
}

func fromPointers(jobs chan *job) {
	for j := range jobs {
		work(j.key, j.body.Bytes())
		println(j.body.Len())
		j.body.Release()
	}
}

func fromMap(jobs map[string]job) {
	for _, j := range jobs {
		work(j.key, j.body.Bytes())
		j.body.Release()
	}
}

func received(jobs chan job) {
	for {
		j, ok := <-jobs
		if !ok {
			return
		}
		work(j.key, j.body.Bytes())
		j.body.Release()
	}
}

func oneAfterTheOther(jobs chan job) {
	j := <-jobs
	work(j.key, j.body.Bytes())
	j.body.Release()
	j = <-jobs
	work(j.key, j.body.Bytes())
	j.body.Release()
}

// Appending hands on, and so does storing in an array.
func chunks(r io.Reader, n int) ([][]byte, error) {
	var all [][]byte
	for range n {
		b := blocks.Get(4096)
		m, err := io.ReadFull(r, b)
		if err != nil {
			blocks.Put(b)
			return all, err
		}
		all = append(all, b[:m])
	}
	return all, nil
}

func total(r io.Reader, n int) (sum int) {
	var all [][]byte
	for range n {
		b := blocks.Get(4096)
		m, err := r.Read(b)
		if err != nil {
			blocks.Put(b)
			break
		}
		sum += m
		all = append(all, b)
	}
	for _, b := range all {
		blocks.Put(b)
	}
	return sum
}

func pair(r io.Reader) (sum int) {
	var both [2][]byte
	for i := range both {
		b := blocks.Get(64)
		m, err := r.Read(b)
		if err != nil {
			blocks.Put(b)
			break
		}
		sum += m
		both[i] = b
	}
	for _, b := range both {
		blocks.Put(b)
	}
	return sum
}

// take returns a block and what puts it back.
func take(n int) ([]byte, func()) {
	b := blocks.Get(n)
	return b, func() { blocks.Put(b) }
}

func taken(r io.Reader) (int, error) {
	b, release := take(100)
	defer release()
	return r.Read(b)
}

func takenAndReleased(r io.Reader) int {
	b, release := take(100)
	n, _ := r.Read(b)
	release()
	return n
}

// bounded returns its argument and a function that does nothing, or another block and one that puts that
// back, as constrainLabels of prometheus/client_golang.
func bounded(b []byte, most int) ([]byte, func()) {
	if len(b) <= most {
		return b, func() {}
	}
	c := blocks.Get(most)
	copy(c, b)
	return c, func() { blocks.Put(c) }
}

func sum(b []byte) (n int) {
	b, release := bounded(b, 16)
	defer release()
	for _, c := range b {
		n += int(c)
	}
	return n
}

func sums() int {
	b := make([]byte, 8)
	return sum(b) + sum(b)
}

type held struct {
	b       []byte
	release func()
}

func takenForLater() *held {
	b, release := take(100)
	return &held{b, release}
}

// What is appended fits.
func fitting(s string) int {
	b := blocks.Get(len(s))[:0]
	b = append(b, s...)
	n := len(b)
	blocks.Put(b)
	return n
}

// What the goroutine has is waited for.
func waitedFor(w io.Writer) {
	b := blocks.Get(64)
	defer blocks.Put(b)
	done := make(chan bool)
	go func() {
		w.Write(b)
		close(done)
	}()
	<-done
}

func grouped(ws []io.Writer) {
	b := blocks.Get(64)
	defer blocks.Put(b)
	var all sync.WaitGroup
	for _, w := range ws {
		all.Go(func() { w.Write(b) })
	}
	all.Wait()
}

func piped(w io.Writer) (int64, error) {
	b := blocks.Get(64)
	defer blocks.Put(b)
	from, to := io.Pipe()
	go func() { to.CloseWithError(fill(to, b)) }()
	return io.Copy(w, from)
}

func fill(w io.Writer, b []byte) error {
	_, err := w.Write(b)
	return err
}

func consumed(w io.Writer) {
	b := blocks.Get(64)
	defer blocks.Put(b)
	lines := make(chan byte)
	go func() {
		for _, c := range b {
			lines <- c
		}
		close(lines)
	}()
	drain(lines)
}

func drain(lines chan byte) {
	for range lines {
	}
}

// What is sent comes back before the return.
func asked(requests chan held) {
	b := blocks.Get(64)
	defer blocks.Put(b)
	done := make(chan bool)
	requests <- held{b: b, release: func() { close(done) }}
	<-done
}

// What a literal holds was copied, or is taken out again.
func copiedInto() *held {
	b := blocks.Get(64)
	defer blocks.Put(b)
	return &held{b: bytes.Clone(b)}
}

func takenOut(fail bool) (*held, error) {
	h := &held{b: blocks.Get(64)}
	if fail {
		blocks.Put(h.b)
		return nil, errShort
	}
	blocks.Put(h.b)
	h.b = nil
	return h, nil
}

func lentInMap(m map[string][]byte, use func()) {
	b := blocks.Get(64)
	defer blocks.Put(b)
	m["x"] = b
	use()
	delete(m, "x")
}

// An early has the evaluator that ended, as OPA's, which is compared and never read.
type early struct{ of *evaluator }

func (e *early) Error() string { return "early" }

type evaluator struct{ done bool }

var evaluators = sync.Pool{New: func() any { return new(evaluator) }}

func (e *evaluator) run(n int) error {
	if n > 1 {
		return &early{of: e}
	}
	return nil
}

func evaluated(n int) error {
	e := evaluators.Get().(*evaluator)
	defer evaluators.Put(e)
	return e.run(n)
}

// plain returns its argument where it may.
func plain(b *bytes.Buffer) *bytes.Buffer {
	if bytes.IndexByte(b.Bytes(), 0) < 0 {
		return b
	}
	return bytes.NewBufferString("binary")
}

func plainOnly() int {
	b := buffers.Get().(*bytes.Buffer)
	b.WriteByte(0)
	c := plain(b)
	buffers.Put(b)
	return c.Len()
}

// A tree is made of trees.
type tree struct{ below *tree }

var trees = sync.Pool{New: func() any { return new(tree) }}

func (t *tree) cut() *tree {
	if t.below == nil {
		return t
	}
	below := t.below
	t.below = nil
	return below
}

func free(t *tree) {
	t.below = nil
	trees.Put(t)
}

func pruned() *tree {
	t := trees.Get().(*tree)
	t.below = trees.Get().(*tree)
	if below := t.cut(); below != t {
		free(below)
	}
	t.below = new(tree)
	return t
}

// framed puts the block back that its buffer has outgrown, as nats-server's wsCollapsePtoNB.
func framed(frames [][]byte, text string) [][]byte {
	seed := blocks.Get(64)
	buf := bytes.NewBuffer(seed[:0])
	buf.WriteString(text)
	b := buf.Bytes()
	if cap(b) > cap(seed) {
		blocks.Put(seed)
	}
	return append(frames, b)
}

// The types that an interface is asserted to have exclude each other, as in what vtprotobuf generates.
type (
	oneOf struct{ is any }
	first struct{ s *part }
	other struct{ s *part }
	part  struct{ n int }
)

var parts = sync.Pool{New: func() any { return new(part) }}

func (p *part) toPool() {
	if p != nil {
		p.n = 0
		parts.Put(p)
	}
}

func (o *oneOf) reset() {
	if is, ok := o.is.(*first); ok {
		is.s.toPool()
	}
	if is, ok := o.is.(*other); ok {
		is.s.toPool()
	}
	o.is = nil
}
