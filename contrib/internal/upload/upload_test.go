package upload_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/internal/upload"
)

func newPool(t *testing.T, limit int64) (*dewpond.BytePool, *dewpond.Budget) {
	budget := dewpond.MustBudget(t.Name(), limit)
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name(), Budget: budget})
	t.Cleanup(func() { pool.Close() })
	return pool, budget
}

func TestWhole(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	broken := errors.New("broken")
	for _, tt := range []struct {
		name     string
		ctx      context.Context
		body     io.Reader
		declared int64
		want     error
	}{
		{"all", context.Background(), strings.NewReader("body"), 4, nil},
		{"all, and the context has ended", ended, strings.NewReader("body"), 4, nil},
		{"more than announced", context.Background(), strings.NewReader("body"), 3, nil},
		{"one byte less", context.Background(), strings.NewReader("body"), 5, io.ErrUnexpectedEOF},
		{"nothing", context.Background(), strings.NewReader(""), 1, io.ErrUnexpectedEOF},
		{"nothing announced and nothing sent", context.Background(), strings.NewReader(""), 0, nil},
		{"the end comes with the last bytes", context.Background(), iotest.DataErrReader(strings.NewReader("body")), 5, io.ErrUnexpectedEOF},
		{"the end comes with the last bytes, of all", context.Background(), iotest.DataErrReader(strings.NewReader("body")), 4, nil},
		{"no length", context.Background(), strings.NewReader("body"), -1, nil},
		{"no length, and the context has ended", ended, strings.NewReader("body"), -1, context.Canceled},
		{"another error", ended, iotest.ErrReader(broken), -1, broken},
		{"another error, and a length", ended, iotest.ErrReader(broken), 4, broken},
	} {
		r := &upload.Whole{Ctx: tt.ctx, Body: tt.body, Left: tt.declared}
		got, err := io.ReadAll(r)
		if err != tt.want || tt.want != broken && tt.body != nil && !strings.HasPrefix("body", string(got)) {
			t.Errorf("%s: %q, %v, want %v", tt.name, got, err, tt.want)
		}
		if _, again := r.Read(make([]byte, 1)); tt.want != nil && again != tt.want {
			t.Errorf("%s: a second Read returns %v, want %v", tt.name, again, tt.want)
		}
	}
}

// Each way of reading returns the same bytes, and gives back what it has taken.
func TestRead(t *testing.T) {
	const most = 300_000
	all := bytes.Repeat([]byte("0123456789"), most/10)
	broken := errors.New("broken")
	for _, full := range []upload.WhenFull{upload.Exceed, upload.Wait, upload.Refuse} {
		pool, _ := newPool(t, 4<<20)
		intake := upload.New(pool, full, "test")
		for _, size := range []int{0, 1, 511, 512, 513, 1000, 64 << 10, 64<<10 + 1, most} {
			for name, read := range map[string]func(io.Reader) io.Reader{
				"at once":                  func(r io.Reader) io.Reader { return r },
				"one byte":                 iotest.OneByteReader,
				"end with the last bytes":  iotest.DataErrReader,
				"an error behind all":      func(r io.Reader) io.Reader { return io.MultiReader(r, iotest.ErrReader(broken)) },
				"nothing at times":         func(r io.Reader) io.Reader { return &hesitant{r: r} },
				"a Read that panics later": func(r io.Reader) io.Reader { return io.MultiReader(r, panicking{}) },
			} {
				if name == "one byte" && size > 1000 {
					continue
				}
				for _, declared := range []int64{int64(size), -1, int64(size) / 2, 1 << 40} {
					got, err, panicked := tryRead(intake, read(bytes.NewReader(all[:size])), declared)
					switch {
					case name == "a Read that panics later" && !panicked, name == "an error behind all" && err != broken:
						t.Errorf("%d, %d bytes, %s: %v, panics: %t", full, size, name, err, panicked)
					case err == nil && !panicked && !bytes.Equal(got, all[:size]):
						t.Errorf("%d, %d bytes, %s, declared %d: %d bytes", full, size, name, declared, len(got))
					case err != nil && (got != nil || err != broken):
						t.Errorf("%d, %d bytes, %s, declared %d: %d bytes, %v", full, size, name, declared, len(got), err)
					}
					intake.Put(got)
					if s := pool.Stats(); s.InUseBytes != 0 {
						t.Fatalf("%d, %d bytes, %s, declared %d: %v", full, size, name, declared, s)
					}
				}
			}
		}
	}
}

func tryRead(intake *upload.Intake, r io.Reader, declared int64) (b []byte, err error, panicked bool) {
	defer func() {
		if recover() != nil {
			panicked = true
		}
	}()
	b, err = intake.Read(context.Background(), r, declared)
	return b, err, false
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("from Read") }

// A hesitant returns nothing and no error each second time.
type hesitant struct {
	r    io.Reader
	next bool
}

func (h *hesitant) Read(p []byte) (int, error) {
	if h.next = !h.next; h.next {
		return 0, nil
	}
	return h.r.Read(p)
}

// What a client announces gets no more than 64 KiB, and a larger block is taken when a byte has
// come that needs it.
func TestTrust(t *testing.T) {
	for _, declared := range []int64{1 << 20, 1 << 62} {
		pool, budget := newPool(t, 16<<20)
		intake := upload.New(pool, upload.Refuse, "test")
		r, w := io.Pipe()
		read := make(chan error)
		go func() {
			b, err := intake.Read(context.Background(), r, declared)
			intake.Put(b)
			read <- err
		}()
		chunk := make([]byte, 64<<10)
		w.Write(chunk[:1])
		for _, step := range []struct {
			n    int
			want int64
		}{{0, 64 << 10}, {64<<10 - 1, 64 << 10}} {
			w.Write(chunk[:step.n])
			w.Write(nil) // returns when the reader asks for more
			if used := budget.Used(); used != step.want {
				t.Errorf("announced %d: %d bytes are charged, want %d", declared, used, step.want)
			}
		}
		w.Write(chunk[:1])
		w.Write(nil)
		if in := pool.Stats().InUseBytes; in != 128<<10 {
			t.Errorf("announced %d: %d bytes are in use after 64 KiB and a byte, want 128 KiB", declared, in)
		}
		w.Close()
		if err := <-read; err != nil {
			t.Error(err)
		}
	}
}

// 32 bodies come in step with each other, each to the same length before any goes on. So all
// grow at the worst moment. Those that are refused leave room for the others.
func TestBodiesInStep(t *testing.T) {
	const limit, size, step = 4 << 20, 1 << 20, 64 << 10
	for _, declared := range []int64{size, -1} {
		pool, budget := newPool(t, limit)
		intake := upload.New(pool, upload.Refuse, "test")
		type result struct {
			b   []byte
			err error
		}
		var writers []*io.PipeWriter
		results := make(chan result, 32)
		for range 32 {
			r, w := io.Pipe()
			writers = append(writers, w)
			go func() {
				b, err := intake.Read(context.Background(), r, declared)
				r.Close()
				results <- result{b, err}
			}()
		}
		chunk := make([]byte, step)
		for range size / step {
			for _, w := range writers {
				w.Write(chunk) // an error if the body was refused
				if used := budget.Used(); used > limit {
					t.Errorf("%d bytes of %d are charged", used, limit)
				}
			}
		}
		for _, w := range writers {
			w.Close()
		}
		served := 0
		var bodies [][]byte
		for range writers {
			switch r := <-results; {
			case r.err == nil && len(r.b) == size:
				served++
				bodies = append(bodies, r.b)
			case !errors.Is(r.err, dewpond.ErrExhausted):
				t.Errorf("%d bytes, %v", len(r.b), r.err)
			}
		}
		if served < 2 {
			t.Errorf("announced %d: %d of 32 are served", declared, served)
		}
		for _, b := range bodies {
			intake.Put(b)
		}
		if s := pool.Stats(); s.InUseBytes != 0 || s.OverBudget != 0 {
			t.Error(s)
		}
	}
}

// A body that waits begins when another ends, and not before; the end of its context ends the
// wait.
func TestWait(t *testing.T) {
	pool, _ := newPool(t, 1<<20) // with which three bodies may grow at once
	intake := upload.New(pool, upload.Wait, "test")
	read := func(ctx context.Context, n int64) ([]byte, error) {
		return intake.Read(ctx, bytes.NewReader(make([]byte, n)), n)
	}
	for _, first := range []int64{512 << 10, 1 << 20} { // half of the Budget, or all of it in small ones
		var held [][]byte
		for sum := int64(0); sum < first; sum += 64 << 10 {
			b, err := read(t.Context(), 64<<10)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, b)
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := read(ctx, 100_000)
			ended <- err
		}()
		end()
		if err := <-ended; !errors.Is(err, dewpond.ErrExhausted) || !errors.Is(err, context.Canceled) {
			t.Errorf("a wait that its context ends returns %v", err)
		}
		served := make(chan []byte)
		for range 3 {
			go func() {
				b, err := read(t.Context(), 100_000)
				if err != nil {
					t.Error(err)
				}
				served <- b
			}()
		}
		select {
		case <-served:
			t.Error("a body begins while there is no room")
		default:
		}
		for _, b := range held {
			intake.Put(b)
		}
		for range 3 {
			intake.Put(<-served)
		}
	}
}

// What another pool of the Budget gives back ends a wait, too.
func TestWaitForAnotherPool(t *testing.T) {
	pool, budget := newPool(t, 256<<10)
	other := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "other", Budget: budget})
	defer other.Close()
	b := other.Get(192 << 10)
	c := other.Get(32 << 10)
	intake := upload.New(pool, upload.Wait, "test")
	served := make(chan []byte)
	go func() {
		b, err := intake.Read(t.Context(), bytes.NewReader(make([]byte, 70_000)), 70_000)
		if err != nil {
			t.Error(err)
		}
		served <- b
	}()
	for { // until the bytes that are left are for the one that waits
		small, err := other.TryGet(64)
		if err != nil {
			break
		}
		other.Put(small)
		runtime.Gosched()
	}
	other.Put(b)
	intake.Put(<-served)
	other.Put(c)
}

// One body may always begin, however small the Budget is.
func TestOneBegins(t *testing.T) {
	for _, full := range []upload.WhenFull{upload.Wait, upload.Refuse} {
		pool, _ := newPool(t, 900) // half of it is less than a first block
		intake := upload.New(pool, full, "test")
		b, err := intake.Read(t.Context(), strings.NewReader("body"), -1)
		if err != nil || string(b) != "body" {
			t.Errorf("%q, %v", b, err)
		}
		intake.Put(b)
	}
}

// A body that was left to the collector counts no more against those that begin.
func TestLose(t *testing.T) {
	pool, _ := newPool(t, 16<<20)
	for _, full := range []upload.WhenFull{upload.Exceed, upload.Wait, upload.Refuse} {
		intake := upload.New(pool, full, "test")
		for range 200 {
			b, err := intake.Read(t.Context(), bytes.NewReader(make([]byte, 70_000)), 70_000)
			if err != nil {
				t.Fatal(err)
			}
			pool.Put(b) // so that the Budget has it, and only the Intake thinks that it is lost
			intake.Lose(b)
		}
	}
}

func TestUnknownWhenFull(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); text != "dewhttp: Options.WhenFull is 3: it must be Exceed, Wait or Refuse" {
			t.Errorf("the panic is %q", text)
		}
	}()
	upload.New(dewpond.Default(), 3, "dewhttp: Options.WhenFull")
}
