package experiment

import (
	"context"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/summary"
)

// A Publication is where a claim comes from. A title that is not English has a translation. Where the
// address of an article is not known it is empty, and the title with its translation says what to look
// for.
type Publication struct{ Title, Translation, Address string }

// Folklore is what is told of pools and in no publication that is known here. OurOwn is what dewpond itself
// says; its address is a document here.
var (
	Folklore = Publication{Title: "folklore"}
	OurOwn   = Publication{Title: "ours", Address: "docs/results.md"}
)

// MatchMaking is the article on the service that examples/matchmaker is made after.
var MatchMaking = Publication{
	Title:       "Go Web服务性能压测实录(QPS突破12,800+):相亲网站高负载场景下的GC调优与连接池重构",
	Translation: "A load test of a Go web service, past 12,800 requests a second: tuning the collector and rebuilding connection pools, on a dating site under high load",
}

func (a Publication) String() string {
	switch {
	case a == Folklore:
		return "folklore: no publication is known that says so"
	case a == OurOwn:
		return "ours: " + a.Address
	}
	title := "“" + a.Title + "”"
	if a.Translation != "" {
		title += ", in English “" + a.Translation + "”"
	}
	if a.Address == "" {
		return title + ", whose address is not known here"
	}
	return title + " (" + a.Address + ")"
}

// A Claim is one statement of a publication.
type Claim struct {
	ID          string // the experiment's, a slash, and a name of its own
	Text        string // what the publication says, in its own numbers
	Publication Publication
	Judge       func(Measured) Finding
	// Reach is how the experiment itself, as it is run, comes to each verdict.
	Reach Reach
}

// A Reach shows that a claim can be confirmed and refused by the run that judges it. Holds puts a case of
// the same run that has the effect, by how it is made, in the place of what the claim is about, and Fails
// one that has it not; [Itself] is what the claim is about. A test runs claims that count, with the counts
// of --quick; what is timed is looked up in the full run that is kept beside the experiments.
type Reach struct {
	Holds, Fails Standing
	// Timed is what a busy machine changes: times, and counts in a span of time.
	Timed bool
	// Ceiling is where the control may show that no case can have the effect on this machine: the verdict is
	// then that it cannot be told here.
	Ceiling bool
	// Short says why --quick is too short to confirm. Then a full run shows it.
	Short string
	// Computed says that the publication's own figures decide, and no run.
	Computed bool
}

// Itself stands in for nothing.
func Itself() Standing { return Standing{} }

// An Experiment measures what its claims are about.
type Experiment struct {
	ID       string
	Question string
	Claims   []Claim
	// Cases take turns. Each is run in a process of its own, once in each round.
	Cases []string
	// Rounds is how often each case is run. The default is the least for which a ratio has an
	// interval of 95 %. What only counts, and counts the same each time, needs fewer.
	Rounds int
	// Each is about how long one case takes, when it is not quick.
	Each time.Duration
	// Run runs one case and sets its figures.
	Run func(*Run) error
	// Builds are the cases that another build of the lab runs.
	Builds map[string]Build
	// Plots show the figures.
	Plots []Plot
}

// A Build is another build of the lab.
type Build struct {
	// Env is what the build has in its environment besides that of the lab.
	Env []string
	// Go returns another go command than the one that is found first, with what it has in its
	// environment besides Env. Its error says how to get one.
	Go func(context.Context) (command string, env []string, err error)
}

// QuickDivisor is how many times shorter the spans and counts of --quick are.
const QuickDivisor = 4

// Repeats returns how often each case is run.
func (e Experiment) Repeats() int {
	if e.Rounds > 0 {
		return e.Rounds
	}
	return summary.VerdictRounds
}

// Time returns about how long the whole experiment takes.
func (e Experiment) Time(quick bool) time.Duration {
	const child = 50 * time.Millisecond // what it takes to start one
	each := e.Each
	if quick {
		each /= QuickDivisor
	}
	return time.Duration(e.Repeats()*len(e.Cases)) * (each + child)
}

// A Plot is one picture of an experiment.
type Plot struct {
	// Figure is compared over the cases that have it, by bars; or
	Figure string
	// Series is drawn as a line for each case that has it; or
	Series string
	// More and Less are two figures that trade for each other: each case is drawn where its medians
	// are, as wide as its rounds scatter, and a line joins the cases that no other beats in both.
	More, Less string
	Title      string
	Note       string
	// X and Y are the units of a series, as the endings of a figure's name: "ns", "bytes" or
	// none. A log axis needs positive values.
	X, Y       string
	LogX, LogY bool
}
