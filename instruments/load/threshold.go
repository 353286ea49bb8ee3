package load

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// sessionName is the name of the whole session in thresholds and reports.
const sessionName = "session"

// A Threshold is what a result must keep, such as "match p99 < 100ms". [ParseThreshold] makes one.
type Threshold struct {
	text  string
	step  string // and percentile, or what
	p     percentile
	below time.Duration
	what  string // errors, achieved or dropped
	share float64
}

// A Verdict is a threshold and what was measured.
type Verdict struct {
	Text string `json:"text"` // the threshold
	// Value is in nanoseconds for a percentile, a share for errors and achieved, and a count for
	// dropped. It is nil if there are too few samples.
	Value *float64 `json:"value"`
	Shown string   `json:"shown"` // the value as reports print it
	OK    bool     `json:"ok"`    // it is kept
}

var (
	latencyThreshold = regexp.MustCompile(`^(.+?)\s+(p50|p95|p99|p999|p9999)\s*<\s*(\S+)$`)
	shareThreshold   = regexp.MustCompile(`^(errors\s*<|achieved\s*>=)\s*([0-9.]+)\s*%$`)
	droppedThreshold = regexp.MustCompile(`^dropped\s*=\s*0$`)
	abortText        = regexp.MustCompile(`^errors\s*>\s*([0-9.]+)\s*%\s+for\s+(\S+)$`)
)

// ParseThreshold reads "STEP p99 < 100ms" (p50, p95, p99, p999 or p9999, of the response; the
// step "session" is the whole session), "errors < 0.1%", "achieved >= 99%" or "dropped = 0".
func ParseThreshold(text string) (Threshold, error) {
	t := Threshold{text: strings.Join(strings.Fields(text), " ")}
	if m := latencyThreshold.FindStringSubmatch(t.text); m != nil {
		d, err := time.ParseDuration(m[3])
		if err != nil || d <= 0 {
			return t, fmt.Errorf("%q: %q is no time: give one such as 100ms", text, m[3])
		}
		t.step, t.below = m[1], d
		for _, p := range percentiles {
			if p.key == m[2] {
				t.p = p
			}
		}
		return t, nil
	}
	if m := shareThreshold.FindStringSubmatch(t.text); m != nil {
		share, err := strconv.ParseFloat(m[2], 64)
		if err != nil || share > 100 {
			return t, fmt.Errorf("%q: %q is no share: give 0%% to 100%%", text, m[2])
		}
		t.what, t.share = strings.TrimRight(m[1], " <>="), share/100
		return t, nil
	}
	if droppedThreshold.MatchString(t.text) {
		t.what = "dropped"
		return t, nil
	}
	return t, fmt.Errorf("%q is no threshold: give STEP p99 < 100ms, errors < 0.1%%, achieved >= 99%% or dropped = 0", text)
}

// String returns the threshold as it was given.
func (t Threshold) String() string { return t.text }

// of judges a result.
func (t Threshold) of(r *Result) Verdict {
	v := Verdict{Text: t.text}
	give := func(value float64, ok bool, shown string) { v.Value, v.OK, v.Shown = &value, ok, shown }
	switch t.what {
	case "errors":
		share := shareOf(r.Failed, r.Started)
		give(share, share < t.share || r.Failed == 0, figure.Percent(share))
	case "achieved":
		share := r.achieved()
		give(share, share >= t.share, figure.Percent(share))
	case "dropped":
		give(float64(r.Dropped), r.Dropped == 0, strconv.FormatUint(r.Dropped, 10))
	default:
		p := r.part(t.step)
		if p == nil || *t.p.in(p.Response) == nil {
			v.Shown = "too few samples to tell"
			return v
		}
		ns := **t.p.in(p.Response)
		give(ns, ns < float64(t.below), figure.Duration(ns))
	}
	return v
}

func shareOf(n, of uint64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// achieved returns the share of the sessions offered that ended well.
func (r *Result) achieved() float64 { return shareOf(r.Finished, r.Offered) }

// part returns the calls of a step, or the sessions.
func (r *Result) part(name string) *Part {
	if name == sessionName {
		return &r.Session
	}
	for i := range r.Steps {
		if r.Steps[i].Name == name {
			return &r.Steps[i]
		}
	}
	return nil
}

// validateConditions wants thresholds to name steps that there are.
func (s *Scenario) validateConditions(steps map[string]bool) error {
	for i, t := range s.Thresholds {
		where := fmt.Sprintf("thresholds[%d]", i)
		if t.text == "" {
			return at(where, "an empty threshold: make it with ParseThreshold")
		}
		if t.step != "" && t.step != sessionName && !steps[t.step] {
			return at(where, "no step is called %q: there are %s and %s", t.step, sessionName, listed(steps))
		}
	}
	return nil
}

// An Abort ends a run early: where more than a share of the sessions fail for so long.
// [ParseAbort] makes one.
type Abort struct {
	text  string
	share float64
	over  time.Duration
}

// Watch returns a function that is given each second of a run, in order, and returns why the run ends with
// it, or an empty text.
func (a Abort) Watch() func(Second) (why string) {
	bad := time.Duration(0) // for how long too many sessions have failed
	return func(s Second) string {
		ended := s.Ended + s.Failed
		if a.over == 0 || ended == 0 || shareOf(s.Failed, ended) <= a.share {
			bad = 0
			return ""
		}
		if bad += time.Second; bad < a.over {
			return ""
		}
		return fmt.Sprintf("%s: %.1f %% of the last second's", a.text, 100*shareOf(s.Failed, ended))
	}
}

// ParseAbort reads "errors > 20% for 3s".
func ParseAbort(text string) (Abort, error) {
	m := abortText.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Abort{}, fmt.Errorf("%q is no reason to abort: give errors > 20%% for 3s", text)
	}
	share, err := strconv.ParseFloat(m[1], 64)
	over, err2 := time.ParseDuration(m[2])
	if err != nil || share > 100 || err2 != nil || over < time.Second {
		return Abort{}, fmt.Errorf("%q: give a share of at most 100%%, and a time of at least 1s", text)
	}
	return Abort{strings.TrimSpace(text), share / 100, over}, nil
}
