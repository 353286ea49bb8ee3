package load

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// Schema is the version of [Result]'s JSON. It increases if a field changes its meaning or goes
// away, not if one is added.
const Schema = 1

// Open and Closed are the modes of a run.
const (
	Open   = "open: the clock sets the rate"
	Closed = "closed: the target sets the rate"
)

// A Result is what a run has measured. Its JSON is described in docs/load.md. Counts are of
// sessions, which for a URL are requests, and leave out the warm-up:
// Offered = Started + Dropped, Started = Finished + Failed.
type Result struct {
	Schema      int                `json:"schema"`
	Command     []string           `json:"command,omitempty"`
	Environment result.Environment `json:"environment"`
	Name        string             `json:"name"`
	Mode        string             `json:"mode"`
	RunID       string             `json:"run_id"`

	// Valid is false if the generator itself spoiled the figures; Why says how.
	Valid bool     `json:"valid"`
	Why   []string `json:"why,omitempty"`
	// Interrupted and Aborted say that the run ended before its time. Cut sessions were on
	// their way then, and count nowhere else.
	Interrupted bool   `json:"interrupted"`
	Aborted     string `json:"aborted,omitempty"`
	Cut         uint64 `json:"cut,omitempty"`

	Offered  uint64 `json:"offered"`
	Started  uint64 `json:"started"`
	Finished uint64 `json:"finished"`
	Failed   uint64 `json:"failed"`
	Dropped  uint64 `json:"dropped"`
	// Errors counts failed calls by kind, and Messages has the first text of each.
	Errors   map[Kind]uint64 `json:"errors"`
	Messages map[Kind]string `json:"messages,omitempty"`

	// Digest is of all intended times (see [Arrivals.Digest]); empty in closed mode.
	Digest  string  `json:"digest,omitempty"`
	Rate    float64 `json:"rate"`    // that was asked for; 0 in closed mode
	Seconds float64 `json:"seconds"` // that were measured: from when the first session was due until the last began
	Users   int     `json:"users,omitempty"`

	Session   Part           `json:"session"`         // from due to done, thinking included
	Awake     *Part          `json:"awake,omitempty"` // the same without thinking, if the session thinks
	Steps     []Part         `json:"steps"`
	Protocols []ProtocolPart `json:"protocols"`

	Generator Generator `json:"generator"`
	Target    Target    `json:"target"`
	// Slowest says where the time of the slowest requests went, and Attribution what they have to
	// do with the target's collector.
	Slowest     []Slowest     `json:"slowest,omitempty"`
	Attribution []Attribution `json:"attribution,omitempty"`
	Thresholds  []Verdict     `json:"thresholds,omitempty"`
	Agents      []Agent       `json:"agents,omitempty"` // of a run on several machines
	Series      []Second      `json:"series,omitempty"`
	Metrics     []Metric      `json:"metrics,omitempty"` // of the target
	Knee        *Knee         `json:"knee,omitempty"`    // of dewload find; the rest is then of the rate that it found
}

// A Part is the calls of a step or of a protocol, or the sessions.
type Part struct {
	Name     string `json:"name"`
	Requests uint64 `json:"requests"`
	Failed   uint64 `json:"failed"`
	Waited   uint64 `json:"waited"` // requests that waited for a connection
	// Response is from due to done, Lag from due to begun, Waiting from begun until there was a
	// connection, and Service from then to done. What failed is in FailedResponse alone.
	Response       *Times `json:"response"`
	Service        *Times `json:"service"`
	Lag            *Times `json:"lag"`
	Waiting        *Times `json:"waiting"`
	FailedResponse *Times `json:"failed_response"`
	// Generator names the percentiles of Response of which lag is more than a tenth.
	Generator []string `json:"generator,omitempty"`
}

// A ProtocolPart is the calls of one protocol, and its connections.
type ProtocolPart struct {
	Part
	Connections uint64  `json:"connections"` // that were opened
	Handshakes  uint64  `json:"handshakes"`  // of TLS
	Reuse       float64 `json:"reuse"`       // 1 - connections / requests, the warm-up's included
	PerConn     float64 `json:"requests_per_connection"`
	Connecting  *Times  `json:"connecting"`
}

// A Generator is what the program that made the load did itself meanwhile.
type Generator struct {
	// CPUShare is of all processors that it may use, 0 to 1; -1 if the system does not say.
	CPUShare    float64 `json:"cpu_share"`
	Collections uint64  `json:"collections"`
	// Pauses of the whole program by the collector: how many, and the longest, in nanoseconds.
	Pauses       uint64  `json:"pauses"`
	LongestPause float64 `json:"longest_pause_ns"`
	// Lost is how many times were too long to be kept.
	Lost uint64 `json:"lost,omitempty"`
}

// A Target is what was asked.
type Target struct {
	URL string `json:"url"`
	// Shared reports whether it is on the generator's machine, which both then slow down.
	Shared bool `json:"shared"`
	// Notes say what of the target's own side could not be had, and where the rest is.
	Notes []string `json:"notes,omitempty"`
}

// An Agent is a process that made a part of the load.
type Agent struct {
	Name     string `json:"name"`
	Started  uint64 `json:"started"`
	Finished uint64 `json:"finished"`
	// Offset is how far its clock is before the coordinator's, and First how far its first
	// arrival was from the earliest one.
	Offset float64 `json:"offset_ns"`
	First  float64 `json:"first_ns"`
	// LostAt is when it was last heard, in seconds since the first session was due. It is nil if
	// the agent was not lost.
	LostAt *float64 `json:"lost_at,omitempty"`
	// Late is how many of its results came after it was given up. They count nowhere.
	Late uint64 `json:"late,omitempty"`
}

// A Second is one second of a run.
type Second struct {
	At       float64 `json:"at"`        // seconds since the first session was due, warm-up included
	Started  uint64  `json:"started"`   // sessions in it
	Ended    uint64  `json:"ended"`     // sessions in it
	Failed   uint64  `json:"failed"`    // sessions in it
	Dropped  uint64  `json:"dropped"`   // sessions in it
	InFlight int     `json:"in_flight"` // at its end
	// InFlightMean is over the second, the warm-up's sessions included.
	InFlightMean float64 `json:"in_flight_mean"`
	Response     *Times  `json:"response"` // of the sessions that ended in it, without the histogram
}

// WriteJSON writes the result as docs/load.md describes it.
func (r Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// ReadJSON reads what WriteJSON wrote.
func ReadJSON(r io.Reader) (Result, error) {
	var out Result
	if err := json.NewDecoder(r).Decode(&out); err != nil {
		return out, fmt.Errorf("no result of dewload: %w", err)
	}
	if out.Schema != Schema {
		return out, fmt.Errorf("a result of schema %d: this dewload reads %d", out.Schema, Schema)
	}
	return out, nil
}

// The limits from which a result is not valid.
const (
	mostDropped = 0.01 // of what was offered
	mostLag     = 0.5  // of the P99
)

// judge says whether the generator spoiled the figures.
func (r *Result) judge() {
	if float64(r.Dropped) > mostDropped*float64(r.Offered) {
		r.Why = append(r.Why, fmt.Sprintf("%d of %d sessions were dropped: in_flight was reached", r.Dropped, r.Offered))
	}
	lag, response := r.Session.Lag.P99, r.Session.Response.P99
	if r.Mode == Open && lag != nil && response != nil && *lag > mostLag**response {
		r.Why = append(r.Why, "lag is more than half of P99: the generator made it")
	}
	r.Valid = len(r.Why) == 0
}
