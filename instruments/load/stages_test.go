package load_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
)

// floods are rates that change, of each kind.
var floods = map[string]string{
	"ramp":     "0s:10/s,20s:400/s",
	"down":     "0s:400/s,20s:0/s",
	"steps":    "5s:50/s,0s:300/s,5s:300/s,0s:20/s,5s:20/s",
	"spikes":   "4s:50/s,1s:600/s:back,4s:50/s,1s:600/s:back,4s:50/s",
	"night":    "2s:0/s,3s:300/s,2s:0/s,4s:0/s,3s:200/s",
	"day":      "@0s:20/s,@6s:20/s,@9s:120/s,@12s:100/s,@20s:400/s,@24s:20/s",
	"one":      "10s:100/s",
	"incident": "30s:200/s,5s:800/s,60s:800/s",
}

func stages(t *testing.T, text string) []load.Stage {
	t.Helper()
	all, err := load.ParseStages(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// rateAt is the rate at a time since the first stage began, by what a stage says: the test's own reckoning.
func rateAt(stages []load.Stage, t float64) float64 {
	rate, from := stages[0].Rate, 0.0
	for _, s := range stages {
		d := s.For.Seconds()
		switch {
		case t >= from+d && s.Back:
		case t >= from+d:
			rate = s.Rate
		case s.Back:
			return s.Rate
		default:
			return rate + (s.Rate-rate)*(t-from)/d
		}
		from += d
	}
	return rate
}

// TestExpected wants the integral of the rate, which is added up here in steps of a millisecond, at
// whose middle the rate is looked at.
func TestExpected(t *testing.T) {
	for name, text := range floods {
		a := load.Arrivals{Warmup: 2 * time.Second, Stages: stages(t, text)}
		sum := 2 * a.Stages[0].Rate
		for ms := range int(a.Length().Milliseconds()) {
			sum += rateAt(a.Stages, (float64(ms)+0.5)/1000) / 1000
			at := a.Warmup + time.Duration(ms+1)*time.Millisecond
			if got := a.Expected(at); math.Abs(got-sum) > 1e-3 {
				t.Fatalf("%s: %v sessions before %v, want %v", name, got, at, sum)
			}
		}
		if mean := (sum - 2*a.Stages[0].Rate) / a.Length().Seconds(); math.Abs(a.Mean()-mean) > 1e-3 {
			t.Errorf("%s: a mean of %v, want %v", name, a.Mean(), mean)
		}
	}
}

// TestStagesArrive wants even arrivals to be within one of the integral at any time, and those of a
// Poisson process within four standard deviations: the agents of one run together, of which each makes
// those that are its own. Both are counts, and no clock goes.
func TestStagesArrive(t *testing.T) {
	for name, text := range floods {
		for _, agents := range []int{1, 2, 5} {
			for _, process := range []load.Process{load.Constant, load.Poisson} {
				a := load.Arrivals{Process: process, Warmup: time.Second, Stages: stages(t, text), Seed: 7}
				made := make([][]time.Duration, agents)
				for i, at := range a.Times() {
					made[i%agents] = append(made[i%agents], at)
				}
				end := a.Warmup + a.Length()
				before := func(at time.Duration) (n int) {
					for _, own := range made {
						for _, t := range own {
							if t >= at {
								break
							}
							n++
						}
					}
					return n
				}
				for at := 100 * time.Millisecond; at <= end; at += 100 * time.Millisecond {
					want, most := a.Expected(at), 1.0
					if process == load.Poisson {
						most = 4 * math.Sqrt(want)
					}
					if n := before(at); math.Abs(float64(n)-want) > most+1e-6 {
						t.Errorf("%s, %s, %d agents: %d arrivals before %v, want %v within %v", name, process, agents, n, at, want, most)
					}
				}
				for _, own := range made {
					even, n := a.Expected(end)/float64(agents), float64(len(own))
					if most := 1 + 4*math.Sqrt(even); math.Abs(n-even) > most {
						t.Errorf("%s, %s: an agent of %d has %v arrivals, want %v", name, process, agents, n, even)
					}
				}
			}
		}
	}
}

// TestOneStage wants a stage alone to be the rate by itself: the same arrivals.
func TestOneStage(t *testing.T) {
	for _, process := range []load.Process{load.Constant, load.Poisson} {
		plain := load.Arrivals{Rate: 130, Process: process, Duration: 9 * time.Second, Seed: 2}
		staged := load.Arrivals{Process: process, Stages: []load.Stage{{For: 9 * time.Second, Rate: 130}}, Seed: 2}
		if a, b := plain.Digest(), staged.Digest(); a != b {
			t.Errorf("%s: the digests are %s and %s", process, a, b)
		}
	}
}

// TestNoArrivalsAtNight wants none where the rate is 0.
func TestNoArrivalsAtNight(t *testing.T) {
	for _, process := range []load.Process{load.Constant, load.Poisson} {
		a := load.Arrivals{Process: process, Stages: stages(t, "5s:0/s,0s:100/s,5s:100/s,0s:0/s,5s:0/s,0s:100/s,5s:100/s,0s:0/s,5s:0/s"), Seed: 3}
		n := 0
		for _, at := range a.Times() {
			if rateAt(a.Stages, at.Seconds()) == 0 {
				t.Fatalf("%s: an arrival at %v", process, at)
			}
			n++
		}
		if n < 800 || n > 1200 {
			t.Errorf("%s: %d arrivals", process, n)
		}
	}
}

func TestParseStages(t *testing.T) {
	for text, want := range map[string]string{
		"30s:200/s,5s:800/s, 60s:800": "[{ 30s 200 false} { 5s 800 false} { 1m0s 800 false}]",
		"@0s:10,@30s:20/s,5s:90:back": "[{ 0s 10 false} { 30s 20 false} { 5s 90 true}]",
	} {
		if got, err := load.ParseStages(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q is %v, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                     `"" is no stage: give TIME:RATE, as in 30s:200/s,5s:800/s,60s:800/s`,
		"30s":                  `"30s" is no stage: give TIME:RATE`,
		"30s:200/s,":           `"" is no stage: give TIME:RATE`,
		"soon:200/s":           `"soon" is no time: give TIME:RATE`,
		"30s:many":             `"many" is no rate: give TIME:RATE`,
		"@30s:200/s,@10s:50/s": `"@10s:50/s" goes back in time: it ends at 10s, and the stage before it at 30s: give 30s or more`,
	} {
		if got, err := load.ParseStages(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %v, %v; want %s", text, got, err, want)
		}
	}
}

// TestBadStages wants each mistake to be said, and what to do.
func TestBadStages(t *testing.T) {
	for text, want := range map[string]string{
		"-5s:200/s":                              "arrivals.stages[0].for: stage 1 goes back in time: it takes -5s: give 0s for a step, or more",
		"30s:-1/s":                               "arrivals.stages[0].rate: stage 1 has a rate of -1: give sessions a second, 0 to 1000000",
		"5s:1/s,30s:1e7/s":                       "arrivals.stages[1].rate: stage 2 has a rate of 10000000: give sessions a second, 0 to 1000000",
		"5s:NaN":                                 "a rate of NaN: give",
		"5s:Inf":                                 "a rate of +Inf: give",
		"0s:200/s":                               "arrivals.stages: the stages take no time: give one",
		"5s:0/s":                                 "arrivals.stages: no session is due: give one",
		"5s:9/s:back":                            "arrivals.stages[0].back: stage 1 has nothing to go back to: give a stage before it",
		"5s:9/s,0s:99/s:back":                    "arrivals.stages[1].for: stage 2 goes back at once: give it a time",
		"20h:1/s,20h:1/s":                        "arrivals.stages[1].for: the stages take more than 24h0m0s: give less",
		strings.Repeat("1s:1/s,", 50) + "1s:1/s": "arrivals.stages: 51 stages: give at most 50",
	} {
		s := get(t, bubbleURL, load.Arrivals{Stages: stages(t, text)})
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	flood := stages(t, "5s:100/s")
	for want, a := range map[string]load.Arrivals{
		"arrivals.rate: rate and stages: give one":         {Rate: 5, Stages: flood},
		"arrivals.duration: duration and stages: give one": {Duration: time.Second, Stages: flood},
		"arrivals.users: users and stages: give one":       {Users: 5, Stages: flood},
		`arrivals.stages[1].name: "peak" is two stages`:    {Stages: []load.Stage{{Name: "peak", For: time.Second, Rate: 1}, {Name: "peak", For: time.Second, Rate: 1}}},
	} {
		if err := get(t, bubbleURL, a).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
