package page

import (
	"strconv"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/axis"
	"github.com/dewpond/dewpond/instruments/kit/palette"
)

// shown returns a page of one chart.
func shown(t *testing.T, c Chart, names ...string) string {
	t.Helper()
	var g struct {
		Gallery
		Picture Picture
	}
	for i, name := range names {
		c.Curves[i].Number = g.Number(name, palette.At(i))
	}
	g.Picture = g.Lines(c)
	var b strings.Builder
	if err := Template("test", `{{template "style" .}}{{template "picture" .Picture}}{{template "script" .}}`).Execute(&b, &g); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// A chart has its lines, labels, names and mark where they belong, and what comes from outside is text.
func TestChart(t *testing.T) {
	ten := axis.Linear(0, 10, 5, plain)
	c := Chart{
		Title: "T & U", Over: Plain, X: ten, Y: ten, Marks: []Mark{{At: 8, Name: "8 > 7"}},
		Curves: []Curve{{Name: "a<b", Points: [][2]float64{{0, 0}, {10, 10}}}, {Name: "c", Points: [][2]float64{{0, 5}, {10, 5}}}},
	}
	s := shown(t, c, "a<b", "c")
	for _, want := range []string{
		"<b>T &amp; U</b>", `style="stroke:var(--c0)" d="M0.0 1000.0L1000.0 0.0"`, `style="stroke:var(--c1)" d="M0.0 500.0L1000.0 500.0"`,
		`<span class="x" style="left:80%">8</span>`, `<span class="x thin" style="left:20%">2</span>`, `<span class="y" style="bottom:20%">2</span>`,
		`class="mark" d="M800.0 0V1000"`, `<span class="marked" style="right:20%">8 &gt; 7</span>`,
		`</i>a&lt;b</span>`, `</i>c</span>`, `names = ["a\u003cb","c"]`, palette.At(1).Light, palette.At(1).Dark,
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %s in %s", want, s)
		}
	}
	c.Marks[0].At = 2
	c.Curves = c.Curves[:1]
	c.Curves[0].Name = ""
	s = shown(t, c, "a<b")
	if !strings.Contains(s, `<span class="marked" style="left:20%">`) || strings.Contains(s, `class="key"`) || strings.Contains(s, "ZgotmplZ") {
		t.Errorf("one line without a name, and a mark at the left: %s", s)
	}
	c.Marks = []Mark{{At: 1, Name: "one"}, {At: 6, Name: "two"}, {At: 9, Name: "three"}}
	s = shown(t, c, "a<b")
	for _, want := range []string{`style="left:10%">one<`, `style="left:60%">two<`, `style="right:10%">three<`, `d="M600.0 0V1000"`} {
		if !strings.Contains(s, want) {
			t.Errorf("no %s in %s", want, s)
		}
	}
}

// Labels that a narrow chart has room for all stay.
func TestThinned(t *testing.T) {
	for n, want := range map[int]int{5: 0, 6: 3, 9: 4} {
		a := axis.Axis{High: float64(n)}
		for i := range n {
			a.Ticks = append(a.Ticks, axis.Tick{Value: float64(i), Label: plain(float64(i))}, axis.Tick{Value: float64(i) + 0.5})
		}
		thin := 0
		for _, m := range thinned(Ticks(a)) {
			if m.Thin {
				thin++
			}
		}
		if thin != want {
			t.Errorf("of %d labels %d are thin, want %d", n, thin, want)
		}
	}
}

func TestBounds(t *testing.T) {
	left, right, low, high := Bounds([]Curve{{Points: [][2]float64{{1, 50}, {2, 70}}}, {Points: [][2]float64{{3, 20}}}})
	if left != 1 || right != 3 || low != 20 || high != 70 {
		t.Errorf("x is from %v to %v, y from %v to %v", left, right, low, high)
	}
	if left, right, low, high := Bounds(nil); !(right > left) || !(high > low) {
		t.Errorf("of nothing x is from %v to %v, y from %v to %v", left, right, low, high)
	}
}
