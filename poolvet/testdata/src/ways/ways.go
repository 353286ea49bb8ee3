// Package ways has ways in which objects of sync.Pool leave, beside right code that looks alike. No test runs it.
package ways

import (
	"bytes"
	"container/list"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

type sample struct {
	id   int
	done bool
	b    []byte
}

var samples = sync.Pool{New: func() any { return new(sample) }}

func newSample() *sample { return samples.Get().(*sample) }

func (s *sample) release() {
	s.b = s.b[:0]
	samples.Put(s)
}

func (s *sample) finish() { s.done = true }

// Sent by a select.
func offered(out chan<- *sample, dropped *int) {
	s := samples.Get().(*sample)
	defer samples.Put(s)
	select {
	case out <- s: // want `s is sent, but the deferred Put`
	default:
		*dropped++
	}
}

func offeredAndKept(out chan<- *sample) {
	s := samples.Get().(*sample)
	select {
	case out <- s:
	default:
		samples.Put(s)
	}
}

func offeredAndWaited(out chan<- *sample, back <-chan struct{}) {
	s := samples.Get().(*sample)
	defer samples.Put(s)
	select {
	case out <- s:
		<-back
	default:
	}
}

// Stored by a function of the standard library.
type registry struct {
	all   sync.Map
	queue list.List
}

func (r *registry) stored(id int) {
	s := samples.Get().(*sample)
	defer samples.Put(s)
	r.all.Store(id, s) // want `s is stored in what outlives the call, but the deferred Put`
}

func (r *registry) methodStored(id int) {
	s := samples.Get().(*sample)
	defer samples.Put(s)
	r.all.Store(id, s.finish) // want `s is stored in what outlives the call`
}

func (r *registry) queued() {
	s := samples.Get().(*sample)
	defer samples.Put(s)
	r.queue.PushBack(s) // want `s is stored in what outlives the call`
}

func (r *registry) storedMeanwhile(id int, do func()) {
	s := samples.Get().(*sample)
	defer samples.Put(s)
	r.all.Store(id, s)
	defer r.all.Delete(id)
	do()
}

func (r *registry) queuedMeanwhile(do func()) {
	s := samples.Get().(*sample)
	defer samples.Put(s)
	e := r.queue.PushBack(s)
	do()
	r.queue.Remove(e)
}

func (r *registry) idStored() {
	s := samples.Get().(*sample)
	defer samples.Put(s)
	r.all.Store(s.id, s.done)
	var local sync.Map
	local.Store(s.id, s)
}

// Stored by a function of this package.
type batch struct {
	pending []*sample
	last    *sample
}

func (b *batch) add(s *sample) { b.pending = append(b.pending, s) }

func (b *batch) remove(s *sample) {
	b.pending = slices.DeleteFunc(b.pending, func(o *sample) bool { return o == s })
}

func (b *batch) addUnlessDone(s *sample) {
	if !s.done {
		b.pending = append(b.pending, s)
	}
}

func (b *batch) count(s *sample) { fmt.Println(s, len(b.pending)) }

func batched(b *batch) {
	s := samples.Get().(*sample)
	b.add(s)
	samples.Put(s) // want `s is put back, but the call at ways.go:\d+:\d+ has stored it in what outlives the call`
}

func batchedMeanwhile(b *batch) {
	s := samples.Get().(*sample)
	b.add(s)
	b.remove(s)
	samples.Put(s)
}

func mayBeBatched(b *batch) {
	s := samples.Get().(*sample)
	s.done = true
	b.addUnlessDone(s)
	samples.Put(s)
}

func counted(b *batch) {
	s := samples.Get().(*sample)
	b.count(s)
	samples.Put(s)
}

// The body of a request.
func posted(c *http.Client, url string) error {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.WriteString("x")
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(b.Bytes()))
	if err != nil {
		return err
	}
	resp, err := c.Do(req) // want `b is given to Do, which may still read it after its return, but the deferred Put`
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func postedCopy(c *http.Client, url string) error {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.WriteString("x")
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(bytes.Clone(b.Bytes())))
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Deferred calls run in reverse.
func closedAfter(w io.Writer, use func(io.Writer)) {
	s := writers.Get().(*closing)
	s.w = w
	defer s.Close() // want `s is used by this deferred call, which runs after the Put deferred at ways.go:\d+:\d+`
	defer writers.Put(s)
	use(s)
}

func closedAfterInLiteral(w io.Writer, use func(io.Writer)) {
	s := writers.Get().(*closing)
	s.w = w
	defer func() { s.Close() }() // want `s is used by this deferred call`
	defer writers.Put(s)
	use(s)
}

func closedBefore(w io.Writer, use func(io.Writer)) {
	s := writers.Get().(*closing)
	s.w = w
	defer writers.Put(s)
	defer s.Close()
	use(s)
}

func otherClosedAfter(w io.WriteCloser) {
	s := writers.Get().(*closing)
	defer w.Close()
	defer writers.Put(s)
	s.w = w
	s.Write(nil)
}

type closing struct{ w io.Writer }

func (c *closing) Write(p []byte) (int, error) { return c.w.Write(p) }
func (c *closing) Close() error                { _, err := c.w.Write(nil); return err }

var writers = sync.Pool{New: func() any { return new(closing) }}

// Timers.
func timed(d time.Duration, do func()) {
	s := samples.Get().(*sample)
	time.AfterFunc(d, func() { s.finish() })
	do()
	samples.Put(s) // want `s is put back, but was given to a timer that nothing stops at ways.go:\d+:\d+`
}

func timedAndStopped(d time.Duration, do func()) {
	s := samples.Get().(*sample)
	t := time.AfterFunc(d, func() { s.finish() })
	do()
	if t.Stop() {
		samples.Put(s)
	}
}

func timedAndWaited(d time.Duration) {
	s := samples.Get().(*sample)
	done := make(chan struct{})
	time.AfterFunc(d, func() { s.finish(); close(done) })
	<-done
	samples.Put(s)
}

func anotherTimed(d time.Duration, done func()) {
	s := samples.Get().(*sample)
	time.AfterFunc(d, func() { done() })
	samples.Put(s)
}

// Functions that lend.
func with(do func(*bytes.Buffer) error) error {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	return do(b)
}

func with2(do func(*bytes.Buffer) error) error { return with(do) }

func lent() (out []byte, err error) {
	err = with(func(b *bytes.Buffer) error {
		b.WriteString("x")
		out = b.Bytes() // want `b is stored in what outlives the call, but with at ways.go:\d+:\d+ puts it back \(returnput\)`
		return nil
	})
	return out, err
}

func lentTwice() (out []byte, err error) {
	err = with2(func(b *bytes.Buffer) error {
		out = bytes.TrimSpace(b.Bytes()) // want `b is stored in what outlives the call, but with2`
		return nil
	})
	return out, err
}

func lentAndCopied() (out []byte, text string, n int) {
	with(func(b *bytes.Buffer) error {
		out = append(out, b.Bytes()...)
		text = b.String()
		n = b.Len()
		return nil
	})
	return out, text, n
}

func lentAndKeptWithin() {
	with(func(b *bytes.Buffer) error {
		part := b.Bytes()
		b.Write(part[:0])
		return nil
	})
}

func copiedOutside() (out []byte) {
	func() {
		b := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(b)
		out = bytes.Clone(b.Bytes())
	}()
	return out
}

func keptOutside() (out []byte) {
	func() {
		b := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(b)
		out = b.Bytes() // want `b is stored in what outlives the call, but the deferred Put`
	}()
	return out
}

// What was stored in the object goes back with it.
func encoded(x uint64, more []byte) []byte {
	s := newSample()
	out := binary.BigEndian.AppendUint64(s.b[:0], x)
	out = append(out, more...)
	s.b = out
	s.release()
	return out // want `s is returned after its Put`
}

func encodedAsText(x uint64, more []byte) string {
	s := newSample()
	out := binary.BigEndian.AppendUint64(s.b[:0], x)
	out = append(out, more...)
	s.b = out
	text := string(out)
	s.release()
	return text
}

// Pieces.
func pieces() (all [][]byte) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	for _, line := range bytes.Split(b.Bytes(), []byte("\n")) {
		all = append(all, bytes.TrimSpace(line))
	}
	return all // want `all is returned, but the deferred Put`
}

func texts() (all []string) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	for _, line := range bytes.Split(b.Bytes(), []byte("\n")) {
		all = append(all, string(bytes.TrimSpace(line)))
	}
	return all
}

type refused struct{ line []byte }

func (r *refused) Error() string { return "refused: " + string(r.line) }

func inAnError() (int, error) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	if b.Len() > 5 {
		return 0, &refused{b.Bytes()} // want `is returned, but the deferred Put`
	}
	return b.Len(), nil
}

func copyInAnError() (int, error) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	if b.Len() > 5 {
		return 0, &refused{bytes.Clone(b.Bytes())}
	}
	return b.Len(), nil
}

// A field that nothing sets again.
type body struct{ s *sample }

func newBody() *body { return &body{newSample()} }

func (b *body) Read(p []byte) (int, error) { return copy(p, b.s.b), io.EOF }

func (b *body) Close() error {
	samples.Put(b.s)
	return nil
}

func closedTwice(w io.Writer) error {
	b := newBody()
	defer b.Close()
	if _, err := io.Copy(w, b); err != nil {
		return err
	}
	return b.Close() // want `is put back here, and again by the deferred Close`
}

func closedOnce(w io.Writer) error {
	b := newBody()
	if _, err := io.Copy(w, b); err != nil {
		b.Close()
		return err
	}
	return b.Close()
}

type again struct{ s *sample }

func (b *again) next(w io.Writer) {
	b.s.finish()
	b.s = newSample()
}

func (b *again) Close() { samples.Put(b.s) }

func closedAndSet(w io.Writer) {
	b := &again{newSample()}
	defer b.Close()
	b.Close()
	b.next(w)
}

// What was just made is put back, and not what was there.
type part struct{ b *bytes.Buffer }

func (p *part) ended() {
	p.b = new(bytes.Buffer)
	buffers.Put(p.b) // want `p.b is put back, but was stored at ways.go:\d+:\d+ in what outlives the call`
}

func (p *part) endedRight() {
	buffers.Put(p.b)
	p.b = new(bytes.Buffer)
}

// A named result that the return sets to nil.
var errShort = errors.New("short")

func opened(r io.Reader) (s *sample, err error) {
	s = samples.Get().(*sample)
	defer func() {
		if err != nil {
			samples.Put(s) // want `s is nil here, which the return at ways.go:\d+:\d+ has set it to: the object is lost \(wrongput\)`
		}
	}()
	if _, err = r.Read(s.b); err != nil {
		return nil, err
	}
	if s.id == 0 {
		return nil, errShort
	}
	return s, nil
}

func openedRight(r io.Reader) (s *sample, err error) {
	got := samples.Get().(*sample)
	defer func() {
		if err != nil {
			samples.Put(got)
		}
	}()
	if _, err = r.Read(got.b); err != nil {
		return nil, err
	}
	return got, nil
}

func openedOrNot(r io.Reader) (s *sample, err error) {
	s = samples.Get().(*sample)
	defer func() {
		if s != nil && err != nil {
			samples.Put(s)
		}
	}()
	if _, err = r.Read(s.b); err != nil {
		return s, err
	}
	return nil, nil
}

// A New that opens what nothing closes.
type spool struct{ f *os.File }

var spools = sync.Pool{New: func() any {
	f, err := os.CreateTemp("", "spool") // want `New opens a \*os.File, which nothing closes when the pool drops what has it \(unfit\)`
	if err != nil {
		return nil
	}
	return &spool{f}
}}

type table struct{ rows []byte }

var tables = sync.Pool{New: func() any {
	f, err := os.Open("table")
	if err != nil {
		return new(table)
	}
	defer f.Close()
	rows, _ := io.ReadAll(f)
	return &table{rows}
}}

// Sealed in place.
var sealing = sync.Pool{New: func() any { return make([]byte, 0, 64) }}

func sealed(a cipher.AEAD, w io.Writer, nonce, data []byte) {
	b := sealing.Get().([]byte)[:0]
	defer sealing.Put(b)
	b = a.Seal(b, nonce, data, nil) // want `b may move here`
	w.Write(b)
}
