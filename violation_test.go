package dewpond_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/misuse"
)

// A mistake is one that CheckAll reports, and what a person reads of it beside the stacks. An
// age reads AGE.
type mistake struct {
	name   string
	commit func(p, other *dewpond.BytePool, orders *dewpond.Pool[purchase])
	want   string
}

type purchase struct {
	ID    int64
	Buyer struct{ Name, City [16]byte }
	_     [24 - unsafe.Sizeof([]string(nil))]byte // 64 bytes in all, whatever the word
	Lines []string
}

const howToSee = "\nTo see the write itself, have the pool off the heap, where it faults: dewtest.NewOffHeapBytePool."

var mistakes = []mistake{
	{"leak", func(p, _ *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		b := p.Get(1000)
		dewtest.ReportLeaks(p)
		p.Put(b)
	}, `leak: 1024 bytes of pool "mine"
got AGE ago at`},
	{"leaks of one place", func(p, _ *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		var all [][]byte
		for i := range 100 {
			all = append(all, p.Get(100*(1+i%2)))
		}
		dewtest.ReportLeaks(p)
		for _, b := range all {
			p.Put(b)
		}
	}, `leak: 100 blocks of up to 256 bytes, 19200 in all, of pool "mine"
got up to AGE ago at`},
	{"leaks of objects", func(_, _ *dewpond.BytePool, orders *dewpond.Pool[purchase]) {
		var all []*purchase
		for range 3 {
			all = append(all, orders.Get())
		}
		dewtest.ReportLeaks(orders)
		for _, o := range all {
			orders.Put(o)
		}
	}, `leak: 3 of type dewpond_test.purchase of 64 bytes, 192 in all, of pool "orders"
got up to AGE ago at`},
	{"leak of a retained lease", func(p, _ *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		l := p.Lease(100)
		owners := []dewpond.Lease{l, l.Retain()}
		for range 3 {
			owners = append(owners, owners[1].Retain())
		}
		owners[4].Release()
		dewtest.ReportLeaks(p)
		for _, l := range owners[:4] {
			l.Release()
		}
	}, `leak: 128 bytes of pool "mine", owners that have not released: 4
got AGE ago, and not released, at
retained, and not released, at
retained 2 times, and not released, at`},
	{"leak of a part of a part of a lease", func(p, _ *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		l := p.Lease(100)
		part := l.Slice(20, 80)
		rest := part.Slice(10, 60)
		l.Release()
		part.Truncate(5).Release()
		dewtest.ReportLeaks(p)
		rest.Release()
	}, `leak: 128 bytes of pool "mine", owners that have not released: 1
got AGE ago, and released, at
retained, and not released, at`},
	{"leak of a lease whose first owner has released", func(p, _ *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		l := p.Lease(100)
		other := l.Retain()
		l.Release()
		dewtest.ReportLeaks(p)
		other.Release()
	}, `leak: 128 bytes of pool "mine", owners that have not released: 1
got AGE ago, and released, at
retained, and not released, at`},
	{"double Put", func(p, _ *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		b := p.Get(1000)
		p.Put(b)
		p.Put(b)
	}, `double Put: 1024 bytes of pool "mine"
got at
put back AGE ago at
put back again at`},
	{"double Put of an object", func(_, _ *dewpond.BytePool, orders *dewpond.Pool[purchase]) {
		o := orders.Get()
		orders.Put(o)
		orders.Put(o)
	}, `double Put: a dewpond_test.purchase of 64 bytes of pool "orders"
got at
put back AGE ago at
put back again at`},
	{"write of text after Put", func(p, _ *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		b := p.Get(1000)
		p.Put(b)
		copy(b[40:], "HTTP/1.1")
		p.Trim()
	}, `write after Put: 1024 bytes of pool "mine"
  written at offset 40, over 8 bytes
  was db db db db db db db db
  is  48 54 54 50 2f 31 2e 31  "HTTP/1.1"
got at
put back AGE ago at` + howToSee},
	{"write after Put, in two places far apart", func(p, _ *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		b := p.Get(1000)
		p.Put(b)
		b[7], b[999] = 1, 2
		p.Trim()
	}, `write after Put: 1024 bytes of pool "mine"
  written at offset 7, over 993 bytes, of which these are the first 32
  was` + strings.Repeat(" db", 32) + `
  is  01` + strings.Repeat(" db", 31) + `
got at
put back AGE ago at` + howToSee},
	{"write of an object after Put", func(_, _ *dewpond.BytePool, orders *dewpond.Pool[purchase]) {
		o := orders.Get()
		orders.Put(o)
		o.Buyer.City[2] = 7
		for range 1000 {
			orders.Put(orders.Get())
		}
	}, `write after Put: a dewpond_test.purchase of 64 bytes of pool "orders"
  written at offset 26, in field Buyer.City, over 1 bytes
  was 00
  is  07
got at
put back AGE ago at
found at`},
	{"Put of a slice made elsewhere", func(p, _ *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		p.Put(make([]byte, 1024))
	}, `Put of a foreign slice: 1024 bytes put back to pool "mine"
  if append has moved it out of a block: use the pool's Append, which moves it to a larger one
put back at`},
	{"Put of another pool's block", func(p, other *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		b := other.Get(1024)
		p.Put(b)
		other.Put(b)
	}, `Put of a foreign slice: 1024 bytes put back to pool "mine"
  it begins in a block of pool "other"
that block: got AGE ago at
put back at`},
	{"Put of another pool's idle block", func(p, other *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		b := other.Get(1024)
		other.Put(b)
		p.Put(b)
	}, `Put of a foreign slice: 1024 bytes put back to pool "mine"
  it begins in a block of pool "other"
that block: got at
that block: put back AGE ago at
put back at`},
	{"Put of the inside of a block", func(p, _ *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		b := p.Get(8192)
		p.Put(b[4096:])
		p.Put(b)
	}, `Put of the inside of a block: 8192 bytes of pool "mine"
  it begins at offset 4096 of the block
got AGE ago at
put back at`},
	{"double Release", func(p, _ *dewpond.BytePool, _ *dewpond.Pool[purchase]) {
		l := p.Lease(100)
		l.Release()
		l.Release()
	}, `double Release: 128 bytes of pool "mine"
made at
released AGE ago at
released again at`},
}

var anAge = regexp.MustCompile(`\b[0-9.]+(ns|µs|ms|s)\b`)

// Beside its stacks a report says what a person wants to know, and the stacks begin with who
// has called the library.
func TestReportsAreReadable(t *testing.T) {
	onlyOnHeap(t, "off it what is written late faults")
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			var found []misuse.Violation
			add := func(v misuse.Violation) { found = append(found, v) }
			p := must(makePool(dewpond.BytePoolOptions{Name: "mine", Check: dewpond.CheckAll, IdleTimeout: dewpond.NoDecay, OnViolation: add}))
			defer p.Close()
			other := must(makePool(dewpond.BytePoolOptions{Name: "other", Check: dewpond.CheckAll, IdleTimeout: dewpond.NoDecay, OnViolation: add}))
			defer other.Close()
			orders := dewpond.MustPool(dewpond.PoolOptions[purchase]{Name: "orders", Check: dewpond.CheckAll, IdleTimeout: dewpond.NoDecay, OnViolation: add})
			defer orders.Close()
			m.commit(p, other, orders)
			if len(found) != 1 {
				t.Fatalf("%d reports: %v", len(found), found)
			}
			var lines, first []string
			afterTitle := false
			for line := range strings.Lines(strings.TrimPrefix(found[0].String(), "dewpond: ")) {
				stack := strings.HasPrefix(line, "\t")
				switch {
				case !stack:
					lines = append(lines, anAge.ReplaceAllString(strings.TrimSuffix(line, "\n"), "AGE"))
				case afterTitle:
					first = append(first, strings.TrimSpace(line))
				}
				afterTitle = !stack
			}
			if got := strings.Join(lines, "\n"); got != m.want {
				t.Errorf("got\n%s\nwant\n%s", got, m.want)
			}
			for _, function := range first {
				if !strings.HasPrefix(function, "github.com/dewpond/dewpond_test.init.func") { // of the table
					t.Errorf("a stack begins with %s:\n%v", function, found[0])
				}
			}
		})
	}
}

// What a person reads is in the fields of a Violation too.
func TestViolationFields(t *testing.T) {
	onlyOnHeap(t, "off it what is written late faults")
	var v misuse.Violation // by the test's own calls: without decay no collection looks at what is idle
	p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: dewpond.NoDecay, Check: dewpond.CheckAll, OnViolation: func(found misuse.Violation) { v = found }})
	other := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll})
	b := p.Get(1000)
	p.Put(b)
	b[7], b[9] = 1, 2
	p.Trim()
	if v.Offset != 7 || v.Written != 3 || string(v.Old) != "\xdb\xdb\xdb" || string(v.New) != "\x01\xdb\x02" || v.Count != 1 || v.Bytes != 1024 || v.Type != "" {
		t.Errorf("%+v", v)
	}
	b = other.Get(1000)
	if p.Put(b); v.Holder != other.Name() || v.Size != cap(b) || v.Got == nil {
		t.Errorf("%+v", v)
	}
	other.Put(b)
	l := p.Lease(100)
	retained := l.Retain()
	if dewtest.ReportLeaks(p); len(v.Owners) != 2 || !slices.Equal(v.Owners[0], v.Got) || slices.Equal(v.Owners[1], v.Got) {
		t.Errorf("%+v", v)
	}
	l.Release()
	retained.Release()
}

// A collection that finds a thousand blocks of one place lost is a few reports, with the right
// number, and so is a Stats.
func TestLostBlocksAreReportedTogether(t *testing.T) {
	onlyOnHeap(t, "no collection finds them")
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	told := make(chan misuse.Violation, 1000)
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: func(v misuse.Violation) { told <- v }})
	for range 1000 {
		getHere(p, 1000)
	}
	runtime.GC()
	runtime.GC()
	reports, leaks := 0, 0
	for leaks < 1000 { // those that do not come run the test into its timeout
		v := <-told
		reports++
		leaks += v.Count
		if v.Kind != misuse.Leak || v.Bytes != v.Count*1024 {
			t.Errorf("%+v", v)
		}
	}
	if s := p.Stats(); leaks != 1000 || reports > 20 || s.Violations != 1000 {
		t.Errorf("%d leaks in %d reports, Violations %d", leaks, reports, s.Violations)
	}
}

// A second Release is a violation whichever owner does it, and where several goroutines do.
func TestDoubleReleaseIsReported(t *testing.T) {
	for _, env := range []string{"all", "sampled=1/1"} {
		t.Setenv("DEWPOND_CHECK", env)
		var mu sync.Mutex
		var found []misuse.Violation
		p := newPool(t, dewpond.BytePoolOptions{OnViolation: func(v misuse.Violation) {
			mu.Lock()
			defer mu.Unlock()
			found = append(found, v)
		}})
		expect := func(what string, made, released string) {
			t.Helper()
			for _, v := range found {
				text := v.String()
				if v.Kind != misuse.DoubleRelease || v.Size != 128 || !strings.Contains(stackBelow(text, titles.got), made) || !strings.Contains(stackBelow(text, titles.put), released) {
					t.Errorf("%s, %s: want a lease made in %q and released in %q: %v", env, what, made, released, v)
				}
			}
			if len(found) != 1 {
				t.Errorf("%s, %s: %d reports", env, what, len(found))
			}
			found = nil
		}
		l := leaseHere(p)
		releaseHere(l)
		p.Lease(100).Release() // of another, perhaps with the same handle
		l.Release()
		if env == "all" {
			expect("the only owner", "leaseHere", "releaseHere")
		}
		found = nil

		l = leaseHere(p)
		other := retainHere(l)
		releaseHere(l)
		l.Release()
		expect("the first of two owners", "leaseHere", "releaseHere")
		releaseHere(other)
		other.Release()
		expect("the second of two owners", "retainHere", "releaseHere")

		l = p.Lease(100)
		var wg go125.WaitGroup
		for range 8 {
			wg.Go(func() { l.Release() })
		}
		wg.Wait()
		if len(found) != 7 {
			t.Errorf("%s: of 8 Releases at once %d are reported", env, len(found))
		}
		found = nil
		dewpond.Lease{}.Release() // of no pool
		if s := p.Stats(); found != nil || s.InUseBytes != 0 || s.Violations < 9 {
			t.Errorf("%s: %v, %+v", env, found, s)
		}
	}
}

//go:noinline
func leaseHere(p *dewpond.BytePool) dewpond.Lease { return p.Lease(100) }

//go:noinline
func retainHere(l dewpond.Lease) dewpond.Lease { return l.Retain() }

//go:noinline
func releaseHere(l dewpond.Lease) { l.Release() }

// A Retain leak is reported where the collector finds it too, and many of one place together.
func TestRetainedLeaksAreReported(t *testing.T) {
	onlyOnHeap(t, "no collection finds them")
	for _, env := range []string{"all", "sampled=1/1"} {
		t.Setenv("DEWPOND_CHECK", env)
		told := make(chan misuse.Violation, 100)
		p := newPool(t, dewpond.BytePoolOptions{OnViolation: func(v misuse.Violation) { told <- v }})
		for range 10 {
			l := leaseHere(p)
			retainHere(l)
			l.Release()
		}
		for n := 0; n < 10; {
			select {
			case v := <-told:
				n += v.Count
				if v.Kind != misuse.Leak || len(v.Owners) != 1 || !strings.Contains(fmt.Sprint(v), "retainHere") || !strings.Contains(fmt.Sprint(v), ", and released, at\n") {
					t.Errorf("%s: %v", env, v)
				}
			default:
				runtime.GC()
			}
		}
	}
}

// A pool reports all that the checks have found, and says whose it is.
func TestViolationsSayAllThatIsFound(t *testing.T) {
	var found misuse.Violation
	next := int64(0)
	fill(t, reflect.ValueOf(&found).Elem(), &next)
	found.Kind, found.Offset = misuse.WriteAfterPut, 8
	want := found
	want.Pool, want.Type, want.Field, want.Advice = "pool", "struct { A int64; B int64 }", "B", "advice"
	if v := dewpond.Told[struct{ A, B int64 }](found); !reflect.DeepEqual(v, want) {
		t.Errorf("of\n%+v\nthis is reported:\n%+v", found, v)
	}
}

// fill sets all in a value to numbers that differ.
func fill(t *testing.T, v reflect.Value, next *int64) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i), next)
		}
	case reflect.String:
		v.SetString(string(rune('A' + *next)))
	case reflect.Int, reflect.Int64:
		v.SetInt(*next)
	case reflect.Uint8, reflect.Uintptr:
		v.SetUint(uint64(*next))
	default:
		t.Fatalf("nothing fills a %v", v.Type())
	}
}

// A function given to OnViolation is called for the violations of every pool, after the
// pool's own OnViolation, until it is stopped.
func TestOnViolation(t *testing.T) {
	var heard []string
	hear := func(who string) func(misuse.Violation) {
		return func(v misuse.Violation) {
			if v.Pool == "heard" || v.Pool == "heard-2" {
				heard = append(heard, who+" "+v.Kind.String())
			}
		}
	}
	stopFirst := dewpond.OnViolation(hear("first"))
	stopSecond := dewpond.OnViolation(hear("second"))
	defer stopSecond()
	p := newPool(t, dewpond.BytePoolOptions{Name: "heard", Check: dewpond.CheckAll, OnViolation: hear("own")})
	q := newObjects(t, dewpond.PoolOptions[account]{Name: "heard", Check: dewpond.CheckAll})
	b, v := p.Get(100), q.Get()
	p.Put(b)
	p.Put(b)
	stopFirst()
	stopFirst()
	q.Put(v)
	q.Put(v)
	if want := []string{"own double Put", "first double Put", "second double Put", "second double Put"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	if text := panics(func() { dewpond.OnViolation(nil) }); text == "" {
		t.Error("OnViolation(nil) passes")
	}
}

// What is out is reported once, and may come back all the same.
func TestReportLeaks(t *testing.T) {
	notWatched(t, "it looks at what a pool without checks reports")
	leaks := 0
	count := func(v misuse.Violation) {
		if leaks++; v.Kind != misuse.Leak || v.Got == nil || v.Put != nil || v.Offence != nil {
			t.Error(v)
		}
	}
	expectLeaks := func(p dewpond.StatsSource, want int) {
		t.Helper()
		leaks = 0
		if n := dewtest.ReportLeaks(p); n != want || leaks != want {
			t.Errorf("%d, of which %d were reported; want %d", n, leaks, want)
		}
	}
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: count})
	q := newObjects(t, dewpond.PoolOptions[account]{Check: dewpond.CheckAll, OnViolation: count})
	a, b, v, w := p.Get(100), p.Get(100_000), q.Get(), q.Get()
	p.Put(p.Get(100))
	q.Put(w)
	expectLeaks(p, 2)
	expectLeaks(p, 0)
	expectLeaks(q, 1)
	p.Put(a)
	p.Put(b)
	q.Put(v)
	v = q.Get()
	expectLeaks(q, 1)
	q.Put(v)
	if s := q.Stats(); s.Violations != 2 || s.InUseBytes != 0 {
		t.Errorf("%+v", s)
	}
	if s := p.Stats(); s.Violations != 2 || s.InUseBytes != 0 {
		t.Errorf("%+v", s)
	}
	unwatched := newPool(t, dewpond.BytePoolOptions{})
	b = unwatched.Get(10)
	expectLeaks(unwatched, 0)
	unwatched.Put(b)
	runtime.KeepAlive(a)
}

// logged returns what the program's logger writes while f runs. A nil handler is the one that
// a program has which sets none.
func logged(handler func(*bytes.Buffer) slog.Handler, f func()) string {
	var text bytes.Buffer
	if handler == nil {
		defer log.SetOutput(os.Stderr)
		defer log.SetFlags(log.Flags())
		log.SetOutput(&text)
		log.SetFlags(0)
	} else {
		defer slog.SetDefault(slog.Default())
		slog.SetDefault(slog.New(handler(&text)))
	}
	f()
	return text.String()
}

func textHandler(to *bytes.Buffer) slog.Handler { return slog.NewTextHandler(to, nil) }

func jsonHandler(to *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(to, nil) }

// otherHandler is one that the library does not know.
func otherHandler(to *bytes.Buffer) slog.Handler {
	return struct{ slog.Handler }{slog.NewTextHandler(to, nil)}
}

// Without OnViolation each pair of stacks is logged once, and every violation counts.
func TestViolationsAreLoggedOnce(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Name: "logged", Check: dewpond.CheckAll})
	text := logged(textHandler, func() {
		b := p.Get(100)
		p.Put(b)
		for range 5 {
			p.Put(b)
		}
		p.Put(b) // from another place
	})
	if n := strings.Count(text, "double Put"); n != 2 {
		t.Errorf("logged %d times:\n%s", n, text)
	}
	if s := p.Stats(); s.Violations != 6 || !strings.Contains(text, "logged") {
		t.Errorf("Violations %d", s.Violations)
	}
}

// Where a handler writes for persons, each frame of the stacks is on a line of its own, and
// no line is escaped. Where it does not, they are a field.
func TestLogIsReadable(t *testing.T) {
	frame := `github.com/dewpond/dewpond_test.putTwice /\S+/violation_test.go:\d+`
	for _, c := range []struct {
		name    string
		handler func(*bytes.Buffer) slog.Handler
		want    string
	}{
		{"none", nil, `(?s)^ERROR dewpond: double Put: 128 bytes of pool "read"\ngot at\n\tgithub.com/dewpond/dewpond_test.putTwice\n\t\t/\S+/violation_test.go:\d+\n` +
			`.*\nput back \S+ ago at\n.*\nput back again at\n\tgithub.com/dewpond/dewpond_test.putTwice\n`},
		{"text", textHandler, `(?s)^\S+ level=ERROR msg="dewpond: double Put: 128 bytes of pool \\"read\\"" pool=read age=\S+\n\S+ level=ERROR msg="dewpond: got at"\n` +
			`\S+ level=ERROR msg="dewpond:     ` + frame + `"\n.*msg="dewpond: put back again at"\n\S+ level=ERROR msg="dewpond:     ` + frame + `"\n`},
		{"another", otherHandler, `^\S+ level=ERROR msg="dewpond: double Put" pool=read size=128 age=\S+ got="\[` + frame + ` [^\n]*\]" put="\[` + frame + ` [^\n]*\]" offence="\[` + frame + ` [^\n]*\]"\n$`},
	} {
		text := logged(c.handler, putTwice)
		if !regexp.MustCompile(c.want).MatchString(text) {
			t.Errorf("%s handler: want %s\ngot\n%s", c.name, c.want, text)
		}
	}
	var record struct {
		Pool              string
		Size              int
		Got, Put, Offence []string
	}
	text := logged(jsonHandler, putTwice)
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	for _, stack := range [][]string{record.Got, record.Put, record.Offence} {
		if len(stack) < 2 || !regexp.MustCompile("^"+frame+"$").MatchString(stack[0]) {
			t.Errorf("a stack is %q:\n%s", stack, text)
		}
	}
	if record.Size != 128 {
		t.Errorf("%+v", record)
	}
}

//go:noinline
func putTwice() {
	p := must(makePool(dewpond.BytePoolOptions{Name: "read", Check: dewpond.CheckAll}))
	defer p.Close()
	b := p.Get(100)
	p.Put(b)
	p.Put(b)
}
