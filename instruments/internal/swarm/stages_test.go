package swarm

import (
	"math"
	"testing"

	"github.com/dewpond/dewpond/instruments/load"
)

// TestFlood wants one, two and five agents to make a flood together: every arrival once, and each in
// the stage in which it was due.
func TestFlood(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		for _, n := range []int{1, 2, 5} {
			for _, process := range []string{string(load.Constant), string(load.Poisson)} {
				target, requests := counted(t)
				p := planOf(target, 0, 0)
				p.Flags.Rate, p.Flags.Duration, p.Flags.Process = nil, nil, &process
				p.Flags.Stage = []string{"600ms:40/s,400ms:200/s", "300ms:400/s:back"}
				s.agents(t, n, AgentOptions{Once: true})
				r, err := Run(t.Context(), p, Options{}.at(s, n))
				if err != nil {
					t.Fatal(err)
				}
				add(t, p, r, requests, n)
				sc, _, _ := p.Scenario()
				due := map[string]uint64{}
				for _, at := range sc.Arrivals.Times() {
					switch seconds := at.Seconds(); {
					case seconds < 0.6:
						due["stage 1"]++
					case seconds < 1:
						due["stage 2"]++
					default:
						due["stage 3"]++
					}
				}
				if len(r.Stages) != 3 {
					t.Fatalf("%d stages: %+v", len(r.Stages), r.Stages)
				}
				sum, want := 0.0, sc.Arrivals.Expected(sc.Arrivals.Length())
				for _, stage := range r.Stages {
					if stage.Finished != due[stage.Name] || stage.Response.Samples != int64(stage.Finished) {
						t.Errorf("%d agents, %s: %s has %d sessions and %d times, want %d", n, process, stage.Name, stage.Finished, stage.Response.Samples, due[stage.Name])
					}
					sum += float64(stage.Offered())
				}
				if within := map[string]float64{"constant": 1, "poisson": 4 * math.Sqrt(want)}[process]; math.Abs(sum-want) > within {
					t.Errorf("%d agents, %s: %v sessions, want %v within %v", n, process, sum, want, within)
				}
			}
		}
	})
}
