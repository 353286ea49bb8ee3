package chart_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/axis"
	"github.com/dewpond/dewpond/load/internal/chart"
)

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func TestBounds(t *testing.T) {
	lines := []chart.Line{{Points: [][2]float64{{1, 50}, {2, 70}}}, {Points: [][2]float64{{3, 20}}}}
	if low, high := chart.Bounds(lines, chart.X); low != 1 || high != 3 {
		t.Errorf("x is from %v to %v", low, high)
	}
	if low, high := chart.Bounds(lines, chart.Y); low != 20 || high != 70 {
		t.Errorf("y is from %v to %v", low, high)
	}
	if low, high := chart.Bounds(nil, chart.Y); !(high > low) {
		t.Errorf("of nothing it is from %v to %v", low, high)
	}
}

func TestHTML(t *testing.T) {
	lines := []chart.Line{{Name: "a<b", Points: [][2]float64{{0, 0}, {10, 10}}}}
	ten := axis.Linear(0, 10, 5, plain)
	c := chart.Chart{Title: "T & U", X: ten, Y: ten, Lines: lines, Mark: &chart.Mark{X: 8, Name: "8 > 7"}}
	one := c.HTML()
	for _, want := range []string{
		"<b>T &amp; U</b>", `class="line l0" d="M0.0 1000.0L1000.0 0.0"`, `<span class="x" style="left:80.00%">8</span>`, `<span class="x thin" style="left:20.00%">2</span>`,
		`<span class="y" style="bottom:20.00%">2</span>`, `class="mark" d="M800.0 0V1000"`, `style="right:20.00%">8 &gt; 7</span>`,
	} {
		if !strings.Contains(one, want) {
			t.Errorf("no %s in %s", want, one)
		}
	}
	if strings.Contains(one, "a&lt;b") {
		t.Errorf("one line has a name beside the title: %s", one)
	}
	c.Lines = append(lines, chart.Line{Name: "c"})
	if two := c.HTML(); !strings.Contains(two, `<span class="name l0">a&lt;b</span> <span class="name l1">c</span>`) {
		t.Errorf("two lines without names: %s", two)
	}
}
