package load

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/rates"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// Schema is the version of [Result]'s JSON. It increases if a field changes its meaning or goes
// away, not if one is added.
const Schema = 1

// Open and Closed are the modes of a run.
const (
	Open   = "open: the clock sets the rate"
	Closed = "closed: the target sets the rate"
)

// A Result is what a run has measured. Its JSON is described in instruments/load/README.md. Counts are of
// sessions, which for a URL are requests, and leave out the warm-up:
// Offered = Started + Dropped + NotMade, Started = Finished + Failed.
type Result struct {
	Schema      int                `json:"schema"`
	Command     []string           `json:"command,omitempty"` // that made it, without its secrets
	Environment result.Environment `json:"environment"`
	Name        string             `json:"name"`
	Mode        string             `json:"mode"`   // Open or Closed
	RunID       string             `json:"run_id"` // the value of the header Mark

	// Valid is false if the generator itself spoiled the figures; Why says how. Overload says what
	// the target takes where sessions were dropped for its sake; it is no fault of the generator.
	Valid    bool     `json:"valid"`
	Why      []string `json:"why,omitempty"`
	Overload string   `json:"overload,omitempty"`
	// Partial is true if the run ended before its time; Interrupted and Aborted say why. Cut sessions
	// were on their way then, and count nowhere else.
	Partial     bool   `json:"partial"`
	Interrupted bool   `json:"interrupted"`
	Aborted     string `json:"aborted,omitempty"`
	Cut         uint64 `json:"cut,omitempty"`

	Offered  uint64 `json:"offered"`
	Started  uint64 `json:"started"`
	Finished uint64 `json:"finished"`
	Failed   uint64 `json:"failed"`
	Dropped  uint64 `json:"dropped"`
	// DroppedLag is of the dropped sessions, from due to dropped: how late the generator was.
	DroppedLag *Times `json:"dropped_lag,omitempty"`
	// NotMade is how many sessions agents that were lost, or ended early, did not make, or did not tell
	// of. They are offered, and not started.
	NotMade uint64 `json:"not_made,omitempty"`
	// Errors counts failed calls by kind, and Messages has the first text of each.
	Errors   map[Kind]uint64 `json:"errors"`
	Messages map[Kind]string `json:"messages,omitempty"`
	// ErrorStatuses splits the errors of kind status by their status, and StatusMessages has the first
	// text of each.
	ErrorStatuses  map[string]uint64 `json:"error_statuses,omitempty"`
	StatusMessages map[string]string `json:"status_messages,omitempty"`

	// Digest is of all intended times (see [Arrivals.Digest]); empty in closed mode.
	Digest  string  `json:"digest,omitempty"`
	Rate    float64 `json:"rate"`    // sessions a second that were asked for, the mean of all stages; 0 in closed mode
	Seconds float64 `json:"seconds"` // that were measured: from when the first session was due until the last began
	Users   int     `json:"users,omitempty"`

	Session   Part           `json:"session"`         // from due to done, thinking included
	Awake     *Part          `json:"awake,omitempty"` // the same without thinking, if the session thinks
	Steps     []Part         `json:"steps"`
	Protocols []ProtocolPart `json:"protocols"`
	Stages    []StagePart    `json:"stages,omitempty"` // of the arrivals

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

// A Part is the calls of a step or of a protocol, or the sessions, of which Requests is then the number.
type Part struct {
	Name     string `json:"name"`
	Requests uint64 `json:"requests"`
	Failed   uint64 `json:"failed"`
	Waited   uint64 `json:"waited"` // requests that waited for a connection
	// Statuses counts the requests of a step or a protocol by what the target answered: HTTP's number,
	// or the name of gRPC's code, also where the client made it. What is missing had no answer.
	Statuses map[string]uint64 `json:"statuses,omitempty"`
	// Sent and Received are the bytes of the bodies and messages of a step or a protocol, also of what
	// failed.
	Sent     uint64 `json:"sent_bytes,omitempty"`
	Received uint64 `json:"received_bytes,omitempty"`
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
	Connected   uint64  `json:"connected"`   // requests that had a connection, the warm-up's included
	Reuse       float64 `json:"reuse"`       // 1 - connections / connected
	PerConn     float64 `json:"requests_per_connection"`
	Connecting  *Times  `json:"connecting"` // TLS included
	// Resent is how many requests were sent again, because the target closed the connection
	// gracefully and had not processed them, and ClosedIdle how many connections the target closed
	// between two requests. Neither is an error; the warm-up's are included.
	Resent     uint64 `json:"resent,omitempty"`
	ClosedIdle uint64 `json:"closed_idle,omitempty"`
}

// A Generator is what the program that made the load did itself meanwhile.
type Generator struct {
	// CPUShare is of all processors that it may use, 0 to 1; -1 if the system does not say.
	CPUShare    float64 `json:"cpu_share"`
	Collections uint64  `json:"collections"` // of garbage
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
	// arrival was from the earliest one, both in nanoseconds.
	Offset float64 `json:"offset_ns"`
	First  float64 `json:"first_ns"`
	// LostAt is when it was last heard, in seconds since the first session was due. It is nil if
	// the agent was not lost.
	LostAt *float64 `json:"lost_at,omitempty"`
	// NotMade is how many of its sessions it did not make, or did not tell of, if it was lost or ended
	// early.
	NotMade uint64 `json:"not_made,omitempty"`
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

// WriteJSON writes the result as instruments/load/README.md describes it.
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
	out.hide() // an older dewload, or another program, may have written it
	if out.Schema != Schema {
		return out, fmt.Errorf("a result of schema %d: this dewload reads %d", out.Schema, Schema)
	}
	return out, nil
}

// The limits from which a result is not valid, or tells of an overload.
const (
	mostDropped = 0.01                      // of what was offered
	mostLag     = 0.5                       // of the P99
	littleLag   = float64(time.Millisecond) // whatever the target's service takes
	grossLag    = 100 * littleLag           // of the P95, where there are too few sessions for a P99
)

// judge says whether the generator spoiled the figures, and whether the target takes less than was
// offered.
func (r *Result) judge() {
	if float64(r.Dropped) > mostDropped*float64(r.Offered) {
		if lag := r.generatorLate(); lag > 0 {
			r.Why = append(r.Why, fmt.Sprintf("%d of %d sessions were dropped: in_flight was reached, and the generator was up to %s late itself", r.Dropped, r.Offered, figure.Duration(lag)))
		} else {
			r.Overload = fmt.Sprintf("takes %s of %s: in_flight filled", rates.Text(float64(r.Finished)/r.Seconds), rates.Text(float64(r.Offered)/r.Seconds))
		}
	}
	if r.Mode == Open {
		lag, response := r.Session.Lag, r.Session.Response
		switch {
		case lag.P99 != nil && response.P99 != nil:
			if *lag.P99 > mostLag**response.P99 {
				r.Why = append(r.Why, "lag is more than half of P99: the generator made it")
			}
		case lag.P95 != nil && response.P95 != nil:
			if *lag.P95 > max(grossLag, mostLag**response.P95) {
				r.Why = append(r.Why, "lag is more than half of P95: the generator made it")
			}
		}
	}
	r.judgeStages()
	r.Valid = len(r.Why) == 0
}

// generatorLate returns the lag, in nanoseconds, that may be why sessions were dropped, or 0 if lag
// is too little for that: less than 1 ms, or than a tenth of what the target's service takes.
func (r *Result) generatorLate() float64 {
	lag := r.Session.Lag.tail()
	if r.DroppedLag != nil {
		lag = max(lag, r.DroppedLag.tail())
	}
	service := r.Session.Service.Mean
	if p := r.Session.Service.P50; p != nil {
		service = *p
	}
	if lag < max(littleLag, generatorShare*service) {
		return 0
	}
	return lag
}
