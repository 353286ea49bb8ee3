// Package capacity says how much memory a program needs for a rate of requests.
//
// What is alive is what the program keeps, and what the requests hold that are under way: by Little's law
// rate x latency of them. The heap grows from there to the pacer's goal. How much garbage a request makes has no
// part in it: that says how often the goal is reached, and not where it is.
package capacity

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/plain"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// Ask is what the user wants to know.
type Ask struct {
	Rate    float64       // requests a second
	Latency time.Duration // of each
	Now     float64       // requests a second while the sources were collected
	Held    float64       // bytes that a request holds while it is under way; negative if the user does not know
}

// A Document is the answer, and its JSON. Its names are a contract.
type Document struct {
	From       string  `json:"from"`
	Seconds    float64 `json:"window_seconds"`
	GOGC       int64   `json:"gogc"`
	Limit      int64   `json:"limit_bytes"`
	Known      bool    `json:"setting_known"`
	GOMAXPROCS int     `json:"gomaxprocs"` // 0: not known
	CPULimit   string  `json:"cpu_limit"`

	Live     estimate.Estimate `json:"live_bytes"`            // now
	UnderWay estimate.Estimate `json:"requests_in_flight"`    // at the rate that is asked for
	InFlight estimate.Estimate `json:"in_flight_bytes"`       // that they hold
	Request  estimate.Estimate `json:"allocated_per_request"` // bytes, now
	PeakHeap estimate.Estimate `json:"peak_heap_bytes"`       // stacks and globals are in it
	RSS      estimate.Estimate `json:"rss_bytes"`
	Article  estimate.Estimate `json:"article_bytes"`
	Share    estimate.Estimate `json:"live_share_of_limit"` // then
}

// What the resident memory has beside the heap at its peak: what the heap's pages are not filled by, the
// runtime's own, and the program.
const (
	rssFactor = 1.08
	rssMore   = 8e6
	rssError  = 0.10 // of both together, with the peak's own error beside
)

// The factors of the formula that an article has: bytes allocated for a request x rate x latency x these.
const articleLow, articleHigh = 1.8, 2.5

// nearLimit is the part of a limit from which on what lives is too near to it.
const nearLimit = 0.7

// Near reports whether what lives would be too near to the memory limit.
func (d Document) Near() bool { return d.Share.Known() && d.Share.Mid >= nearLimit }

// Make makes the answer.
func Make(w *pacer.Window, ask Ask) Document {
	d := Document{
		From: w.From, Seconds: w.Seconds, GOGC: w.Setting.GOGC, Limit: w.Setting.Limit, Known: w.Known, GOMAXPROCS: w.Procs,
		Live: w.Live(), UnderWay: estimate.Exact(ask.Rate * ask.Latency.Seconds()),
		Share: estimate.CannotTell("there is no memory limit"),
	}
	d.Request = w.Allocated.Scaled(1 / w.Seconds / ask.Now)
	held := estimate.Exact(ask.Held)
	if ask.Held < 0 { // at most what it allocates
		held = estimate.Estimate{Low: 0, Mid: d.Request.Mid, High: d.Request.High}
	}
	d.InFlight = held.Scaled(d.UnderWay.Mid)
	article := d.Request.Scaled(d.UnderWay.Mid)
	d.Article = estimate.Estimate{Low: article.Low * articleLow, Mid: article.Mid * (articleLow + articleHigh) / 2, High: article.High * articleHigh}

	// What the requests of now hold is alive already.
	more := held.Scaled((ask.Rate - ask.Now) * ask.Latency.Seconds())
	if ask.Rate < ask.Now {
		more = held.Scaled((ask.Now - ask.Rate) * ask.Latency.Seconds())
		more = estimate.Estimate{Low: -more.High, Mid: -more.Mid, High: -more.Low}
	}
	mid := then(w, more.Mid).Foretell(w.Setting).Peak
	if !mid.Known() {
		d.PeakHeap, d.RSS = mid, mid
		if w.Setting.Limit > 0 {
			d.Share = mid
		}
		return d
	}
	low, high := then(w, more.Low).Foretell(w.Setting).Peak, then(w, more.High).Foretell(w.Setting).Peak
	beside := w.Stacks.Mid + w.Globals.Mid
	d.PeakHeap = estimate.Estimate{Low: low.Low + beside, Mid: mid.Mid + beside, High: high.High + beside}
	d.RSS = estimate.Estimate{
		Low: (d.PeakHeap.Low*rssFactor + rssMore) * (1 - rssError),
		Mid: d.PeakHeap.Mid*rssFactor + rssMore, High: (d.PeakHeap.High*rssFactor + rssMore) * (1 + rssError),
	}
	if w.Setting.Limit > 0 {
		d.Share = then(w, more.Mid).Near(w.Setting.Limit)
	}
	return d
}

// then returns the window of a process that has so many bytes more alive.
func then(w *pacer.Window, more float64) *pacer.Window {
	v := *w
	v.Lives = nil
	for _, l := range w.Lives {
		v.Lives = append(v.Lives, pacer.Live{Bytes: max(0, l.Bytes+more), Allocated: l.Allocated})
	}
	up := more
	if w.Setting.GOGC >= 0 {
		up *= 1 + float64(w.Setting.GOGC)/100
	}
	v.Goal.Low, v.Goal.Mid, v.Goal.High = v.Goal.Low+up, v.Goal.Mid+up, v.Goal.High+up
	if mean := w.Live().Mid; w.Peak > 0 && mean > 0 {
		v.Peak = max(0, w.Peak+up)
	}
	// Between two collections it allocates more, too.
	factor := (v.Goal.Mid - v.Live().Mid) / max(w.Goal.Mid-w.Live().Mid, 1)
	v.Allocated = w.Allocated.Scaled(max(factor, 0))
	return &v
}

// Text writes the answer for people.
func Text(w io.Writer, d Document, style terminal.Style) error {
	var out strings.Builder
	paragraph := func(text string) { out.WriteString(terminal.Wrap("", plain.Line(text), style.Width) + "\n") }
	size := func(e estimate.Estimate) string { return e.Text(figure.ByteSize) }
	setting := fmt.Sprintf("GOGC %d", d.GOGC)
	if d.GOGC < 0 {
		setting = "GOGC off"
	}
	if !d.Known {
		setting = "as if " + setting
	}
	if d.Limit > 0 {
		setting += ", memory limit " + figure.ByteSize(float64(d.Limit))
	}
	procs := "GOMAXPROCS is not known"
	if d.GOMAXPROCS > 0 {
		procs = fmt.Sprintf("GOMAXPROCS %d", d.GOMAXPROCS)
	}
	paragraph(fmt.Sprintf("now: live %s, %s, %s, CPU limit %s (%s, %s s)", size(d.Live), setting, procs, d.CPULimit, d.From, figure.Significant(d.Seconds)))
	out.WriteByte('\n')
	for _, line := range columns.Remarked([][]string{
		{"requests under way", d.UnderWay.Text(figure.Significant), "rate x latency"},
		{"they hold", size(d.InFlight), "as a part of what lives"},
		{"peak of the heap", size(d.PeakHeap), "with stacks and globals, which the goal follows"},
		{"resident memory", size(d.RSS), fmt.Sprintf("%v x that, and %s", rssFactor, figure.ByteSize(rssMore))},
		{"as an article has it", size(d.Article), fmt.Sprintf("%s allocated for a request x rate x latency x %v to %v: it leaves out what lives", figure.ByteSize(d.Request.Mid), articleLow, articleHigh)},
	}) {
		out.WriteString(line + "\n")
	}
	if d.Near() {
		out.WriteByte('\n')
		paragraph(fmt.Sprintf("What lives would take %s of the memory limit: dewpond advise settings says what to do.", d.Share.Text(figure.Percent)))
	}
	if !math.IsInf(d.PeakHeap.Mid, 0) && d.Article.Known() && d.PeakHeap.Known() && d.Article.High < d.PeakHeap.Low/2 {
		out.WriteByte('\n')
		paragraph("The article's formula is for what is under way, and not for a heap that is collected: do not give a container that limit.")
	}
	_, err := io.WriteString(w, out.String())
	return err
}
