package experiments

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewproto"
	"github.com/dewpond/dewpond/contrib/dewsql"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// bufferSizes has the sizes of buffers that an article takes from the load, beside what was in them lately.
var bufferSizes = experiment.Experiment{
	ID:       "buffer-sizes",
	Question: "Should a buffer's size follow the load, or what was in it lately?",
	Claims: []experiment.Claim{{
		ID: "buffer-sizes/narrow", Text: "a row buffer of average row bytes x 16 x (1.5 - Idle/MaxOpenConnections), 1024 to 65536: of 1.8 KB in the place of 2 KB for OLTP rows, and so 12 % less", Publication: sizing, Judge: judgeSizesNarrow, Reach: experiment.Reach{
			Holds: experiment.Standing{experiment.At(narrowRows, "article_buffer_bytes"): experiment.At(narrowRows, "class_below_buffer_bytes")}, Fails: experiment.Itself(),
		},
	}, {
		ID: "buffer-sizes/wide", Text: "by the same function, a row buffer of 48 KB in the place of 2 KB for a wide export, and so 67 % less", Publication: sizing, Judge: judgeSizesWide, Reach: experiment.Reach{
			Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At(wideRows, "article_blocks"): experiment.At(wideRows, "fixed_blocks")},
		},
	}, {
		ID: "buffer-sizes/idle", Text: "the factor 1.5 - Idle/MaxOpenConnections fits row buffers to the load", Publication: sizing, Judge: judgeSizesIdle, Reach: experiment.Reach{
			Holds: experiment.Standing{experiment.At(busyRows, "article_peak_bytes"): experiment.At(busyRows, "reverse_peak_bytes")}, Fails: experiment.Itself(),
		},
	}, {
		ID: "buffer-sizes/load", Text: "the buffer of a protobuf message is the hint of its schema x (1 + load), up to a maximum", Publication: sizing, Judge: judgeSizesLoad, Reach: experiment.Reach{
			Holds: experiment.Standing{experiment.At(messagesOf, "load_grown"): experiment.At(messagesOf, "load_grown_where_sizes_follow"), experiment.At(messagesOf, "constant_grown"): experiment.At(messagesOf, "constant_grown_where_sizes_follow")},
			Fails: experiment.Itself(),
		},
	}},
	Cases:  []string{narrowRows, wideRows, busyRows, messagesOf},
	Rounds: 6,
	Each:   300 * time.Millisecond,
	Run:    runBufferSizes,
	Plots: []experiment.Plot{
		{Figure: "learned_blocks", Title: "Blocks of a batch, where their size is learned", Note: "4 narrow rows, 500 wide ones"},
		{Figure: "article_blocks", Title: "Blocks of a batch, by the article's function"},
		{Figure: "fixed_blocks", Title: "Blocks of a batch, of 2 KB"},
	},
}

// The cases.
const (
	narrowRows = "narrow rows"
	wideRows   = "wide rows"
	busyRows   = "narrow rows on 100 connections"
	messagesOf = "messages"
)

// A shape is rows as a query has them.
type shape struct {
	rows  int
	sizes []int // of a row's values
}

var (
	narrow = shape{4, []int{8, 27, 80}}       // 115 bytes: the article's function gives 1840 where half is idle
	wide   = shape{500, []int{8, 1000, 2064}} // 3072: 49152
	fixed  = 2048                             // the buffer in the place of which the others come
	least  = 1024                             // of the function
	most   = 65536
)

func (s shape) rowBytes() (n int) {
	for _, size := range s.sizes {
		n += size
	}
	return n
}

// scanBuffer is the article's function, with another factor if it is given.
func scanBuffer(rowBytes int, factor float64) int {
	return min(max(int(float64(rowBytes)*16*factor), least), most)
}

// rows are those of a shape, which no database has sent.
type rows struct {
	left   int
	values [][]byte
}

func (s shape) result() *rows {
	r := &rows{left: s.rows}
	for _, size := range s.sizes {
		r.values = append(r.values, make([]byte, size))
	}
	return r
}

func (r *rows) Next() bool          { r.left--; return r.left >= 0 }
func (r *rows) Err() error          { return nil }
func (r *rows) RawValues() [][]byte { return r.values }

func runBufferSizes(r *experiment.Run) error {
	switch r.Case {
	case narrowRows:
		r.Set("fixed_buffer_bytes", allocated(r, fixed))
		r.Set("article_buffer_bytes", allocated(r, scanBuffer(narrow.rowBytes(), 1)))
		r.Set("class_below_buffer_bytes", allocated(r, 1792))
		return readRows(r, narrow)
	case wideRows:
		return readRows(r, wide)
	case busyRows:
		return connections(r)
	}
	return messages(r)
}

// allocated returns how many bytes Go allocates for a buffer of n.
func allocated(r *experiment.Run, n int) float64 {
	var heap kit.Heap
	times := r.Count(4000)
	before, _ := heap.Read()
	for range times {
		runtime.KeepAlive(make([]byte, n)) // of no constant size, so on the heap
	}
	after, _ := heap.Read()
	return float64((after - before) / uint64(times))
}

// readRows reads batches of a shape, with blocks of three kinds of sizes in turn, all by dewsql.
func readRows(r *experiment.Run, s shape) error {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "rows", Zero: dewpond.ZeroNever})
	defer pool.Close()
	of := func(size int) *dewsql.Reader {
		reader, err := dewsql.NewBounded(pool, size, size)
		if err != nil {
			panic(err) // of a size that is not positive
		}
		return reader
	}
	for name, reader := range map[string]*dewsql.Reader{"fixed": of(fixed), "article": of(scanBuffer(s.rowBytes(), 1)), "learned": dewsql.New(pool)} {
		var before dewpond.Stats
		inUse := int64(0)
		for i := range 30 {
			before = pool.Stats()
			batch, err := reader.ReadRaw(s.result(), s.rows)
			if err != nil {
				return err
			}
			if i == 29 { // it has learned
				r.Set(name+"_blocks", float64(pool.Stats().Sub(before).Gets))
				inUse = pool.Stats().InUseBytes
			}
			batch.Close()
		}
		r.Set(name+"_in_use_bytes", float64(inUse))
	}
	return nil
}

// connections reads narrow rows on as many of 100 connections as are not idle, at once, from none to all, and has
// the most that their blocks take together.
func connections(r *experiment.Run) error {
	const open = 100
	for name, factor := range map[string]func(idle float64) float64{
		"article": func(idle float64) float64 { return 1.5 - idle },
		"without": func(float64) float64 { return 1 },
		"reverse": func(idle float64) float64 { return 0.5 + idle },
		"learned": nil,
	} {
		pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "rows", Zero: dewpond.ZeroNever})
		learned := dewsql.New(pool)
		peak := int64(0)
		for busy := 0; busy <= open; busy += 5 {
			reader := learned
			if factor != nil {
				size := scanBuffer(narrow.rowBytes(), factor(1-float64(busy)/open))
				var err error
				if reader, err = dewsql.NewBounded(pool, size, size); err != nil {
					return err
				}
			}
			var batches []*dewsql.Batch
			for range busy {
				batch, err := reader.ReadRaw(narrow.result(), narrow.rows)
				if err != nil {
					return err
				}
				batches = append(batches, batch)
			}
			peak = max(peak, pool.Stats().InUseBytes)
			for _, b := range batches {
				b.Close()
			}
		}
		r.Set(name+"_peak_bytes", float64(peak))
		pool.Close()
	}
	return nil
}

// messages has messages of many sizes read into blocks: by dewproto itself, of the size that it learns; of that
// size by the load; and of that size by a constant that takes as much memory. A message that its block has no room
// for grows.
func messages(r *experiment.Run) error {
	n := r.Count(20_000)
	own, err := byDewproto(n)
	if err != nil {
		return err
	}
	r.Set("dewproto_grown", own)
	// The load goes up and down, and is 0.5 in the mean.
	sizes := messageSizes()
	outgrow(r, n, "", func(i int) (size int, load float64) {
		return sizes(i), 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/500)
	})
	// As if the load came with the message, and made it larger: what has the effect.
	outgrow(r, n, "_where_sizes_follow", func(i int) (size int, load float64) {
		if i%50 == 49 {
			return 7600, 1
		}
		return 4000, 0
	})
	return nil
}

// outgrow counts which of n messages outgrow their block, by what their sizes are made of.
func outgrow(r *experiment.Run, n int, ending string, message func(i int) (size int, load float64)) {
	for name, factor := range map[string]func(load float64) float64{
		"hint": func(float64) float64 { return 1 }, "constant": func(float64) float64 { return 1.5 }, "load": func(load float64) float64 { return 1 + load },
	} {
		grown, taken, hint := 0, 0, 0.0
		for i := range n {
			size, load := message(i)
			block := max(511, int(hint*factor(load))) + 1 // for the Read that returns io.EOF
			taken += block
			if size >= block {
				grown++
			}
			// As dewproto's: it rises at once and falls by a sixteenth.
			if s := float64(size); s > hint {
				hint = s
			} else {
				hint -= (hint - s) / 16
			}
		}
		r.Set(name+"_grown"+ending, float64(grown))
		r.Set(name+"_block_bytes"+ending, float64(taken)/float64(n))
	}
}

// messageSizes returns a function of sizes that are lognormal about 4 KB: that of message i is the same each time.
func messageSizes() func(i int) int {
	return func(i int) int { return int(4000 * math.Exp(0.7*rand.New(rand.NewPCG(1, uint64(i))).NormFloat64())) }
}

// byDewproto returns how many of so many messages outgrow the block that dewproto reads them into.
func byDewproto(n int) (grown float64, err error) {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "messages", Zero: dewpond.ZeroNever})
	defer pool.Close()
	of := dewproto.New(pool)
	sizes := messageSizes()
	var m wrapperspb.BytesValue
	for i := range n {
		encoded, err := proto.Marshal(wrapperspb.Bytes(make([]byte, sizes(i))))
		if err != nil {
			return 0, err
		}
		before := pool.Stats().Gets
		if err := of.Unmarshal(bytes.NewReader(encoded), &m); err != nil {
			return 0, err
		}
		if pool.Stats().Gets-before > 1 {
			grown++
		}
	}
	return grown, nil
}

// directionOf judges a ratio of counts that come out the same each time, of which a publication says only that
// it is below 1.
func directionOf(a, b float64) (experiment.Verdict, string) {
	ratio := max(a, 1) / max(b, 1)
	return experiment.Direction(result.Ratio{Median: ratio, Low: ratio, High: ratio, Rounds: summary.VerdictRounds}, false)
}

func judgeSizesNarrow(m experiment.Measured) experiment.Finding {
	fixed, article := experiment.At(narrowRows, "fixed_buffer_bytes"), experiment.At(narrowRows, "article_buffer_bytes")
	if f, lacking := m.Lacking(fixed, article); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("a buffer of 1.8 KB takes %s", m.Text(article)),
		Control: fmt.Sprintf("one of 2 KB takes %s. A batch of narrow rows has %s in blocks by the function, and %s where dewsql learns their size",
			m.Text(fixed), m.Text(experiment.At(narrowRows, "article_in_use_bytes")), m.Text(experiment.At(narrowRows, "learned_in_use_bytes"))),
		Do: "Reckon in what is allocated: Go rounds a size up, and below 2 KiB the next is 1792. 1800 is 12 % less than 2048 only where nobody rounds.",
	}
	f.Verdict, f.Why = experiment.Counts(m.Median(article.Case, article.Figure), m.Median(fixed.Case, fixed.Figure), 0.88)
	return f
}

func judgeSizesWide(m experiment.Measured) experiment.Finding {
	fixed, article, learned := experiment.At(wideRows, "fixed_blocks"), experiment.At(wideRows, "article_blocks"), experiment.At(wideRows, "learned_blocks")
	if f, lacking := m.Lacking(fixed, article, learned); lacking {
		return f
	}
	in := func(name string) string { return m.Text(experiment.At(wideRows, name+"_in_use_bytes")) }
	f := experiment.Finding{
		Measured: fmt.Sprintf("a batch of 500 wide rows takes %s blocks of 48 KB, with %s in them", m.Text(article), in("article")),
		Control:  fmt.Sprintf("%s where they have 2 KB, with %s; %s where dewsql learns their size, with %s", m.Text(fixed), in("fixed"), m.Text(learned), in("learned")),
		Do:       "Make blocks large for large results. What was read before says how large: no function of the connections has to.",
	}
	f.Verdict, f.Why = experiment.Counts(m.Median(article.Case, article.Figure), m.Median(fixed.Case, fixed.Figure), 0.33)
	return f
}

func judgeSizesIdle(m experiment.Measured) experiment.Finding {
	article, without, learned := experiment.At(busyRows, "article_peak_bytes"), experiment.At(busyRows, "without_peak_bytes"), experiment.At(busyRows, "learned_peak_bytes")
	if f, lacking := m.Lacking(article, without, learned); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("the row buffers of 100 connections take %s at the peak", m.Text(article)),
		Control:  fmt.Sprintf("%s without the factor, and %s where dewsql learns the size, for the same rows", m.Text(without), m.Text(learned)),
		Do:       "Leave the connections out of it: how many are idle says nothing of how wide a row is, and the factor makes buffers largest when most are in use.",
	}
	f.Verdict, f.Why = directionOf(m.Median(article.Case, article.Figure), m.Median(without.Case, without.Figure))
	return f
}

func judgeSizesLoad(m experiment.Measured) experiment.Finding {
	load, constant, hint, own := experiment.At(messagesOf, "load_grown"), experiment.At(messagesOf, "constant_grown"), experiment.At(messagesOf, "hint_grown"), experiment.At(messagesOf, "dewproto_grown")
	if f, lacking := m.Lacking(load, constant, hint, own); lacking {
		return f
	}
	taken := func(name string) string { return m.Text(experiment.At(messagesOf, name+"_block_bytes")) }
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s messages outgrow a block of the learned size x (1 + load), of %s in the mean", m.Text(load), taken("load")),
		Control: fmt.Sprintf("%s outgrow one of the learned size x 1.5, of %s; %s one of the learned size, of %s, and %s that of dewproto, which learns so and whose classes round up",
			m.Text(constant), taken("constant"), m.Text(hint), taken("hint"), m.Text(own)),
		Do: "Leave the load out of it, as dewproto does, unless your messages grow with it: larger blocks are outgrown less often, and the load is no better a reason for them than a constant.",
	}
	f.Verdict, f.Why = directionOf(m.Median(load.Case, load.Figure), m.Median(constant.Case, constant.Figure))
	return f
}
