package bench

import "github.com/dewpond/dewpond/instruments/kit/result"

// An Answer answers one question of a user: dewpond beside syncpool-class, in one figure.
type Answer struct {
	Topic    string `json:"topic"` // of this question and its neighbours, such as "512 goroutines"
	Question string `json:"question"`
	Scenario string `json:"scenario"` // which tells more
	Figure   string `json:"figure"`   // by its name in Ratios
	// Need is what somebody needs for whom the answer decides. It is empty where others say it.
	Need     string        `json:"need,omitempty"`
	Ours     result.Figure `json:"ours"`
	Baseline result.Figure `json:"baseline"`
	Ratio    *result.Ratio `json:"ratio,omitempty"` // nil if the baseline is zero in some round
	// Difference is that of counts which have no Ratio.
	Difference *result.Excess `json:"difference,omitempty"`
	// Side is better, worse, level, unclear or none to be seen. It is empty if there are too few
	// rounds to tell.
	Side string `json:"side,omitempty"`
}
