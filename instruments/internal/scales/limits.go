package scales

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/known"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/load"
)

// The rates at which the generator is tried: they double.
const (
	leastRate = 1000
	mostRate  = 128_000
)

// Limits prints the highest rate, of those that double, at which the generator keeps up, and
// returns it for each protocol.
func (s *Scales) Limits(ctx context.Context) (map[string]float64, error) {
	url, end, err := s.Target(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	limits := map[string]float64{}
	for _, c := range []struct {
		name     string
		do       load.Action
		protocol load.Protocol
	}{
		{"http/1.1", load.Request{URL: known.Nothing}, load.HTTP1},
		{"h2c", load.Request{URL: known.Nothing}, load.H2C},
		{"websocket", load.Socket{URL: known.Echo, Send: load.Message{Text: "hello"}, Messages: 1}, load.HTTP1},
		{"grpc", load.Procedure{Method: known.Call}, load.HTTP1},
	} {
		why := ""
		limits[c.name] = 0
		for rate := float64(leastRate); rate <= mostRate && why == ""; rate *= 2 {
			s.Begin(fmt.Sprintf("%s at %.0f/s", c.name, rate))
			a := load.Arrivals{Rate: rate, Duration: max(500*time.Millisecond, time.Duration(1000/rate*1e9))} // that there is a P99
			r, err := s.run(ctx, url, c.do, a, c.protocol, load.Options{})
			switch {
			case err != nil:
				return nil, err
			case !r.Valid:
				why = strings.Join(r.Why, "; ")
			case r.Overload != "":
				why = "the target " + r.Overload
			case float64(r.Failed) > 0.001*float64(r.Started):
				why = fmt.Sprintf("%d of %d failed", r.Failed, r.Started)
			default:
				limits[c.name] = rate
			}
		}
		if why == "" {
			why = "nothing: this is the highest rate that is tried"
		}
		fmt.Fprintf(s.Out, "%s: the generator keeps up with %s/s; beyond, %s\n", c.name, figure.Significant(limits[c.name]), why)
	}
	fmt.Fprintln(s.Out, "The target shares this machine, and takes its part of it.")
	return limits, nil
}
