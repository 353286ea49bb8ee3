package result

// An Answer answers one question of a user: dewpond beside syncpool-class, in one figure.
type Answer struct {
	Topic    string `json:"topic"` // of this question and its neighbours, such as "512 goroutines"
	Question string `json:"question"`
	Scenario string `json:"scenario"` // which tells more
	Figure   string `json:"figure"`   // by its name in Ratios
	Ours     Figure `json:"ours"`
	Baseline Figure `json:"baseline"`
	Ratio    *Ratio `json:"ratio,omitempty"` // nil if the baseline is zero in some round
	// Side is better, worse, level or unclear. It is empty if there are too few rounds to tell.
	Side string `json:"side,omitempty"`
	// Floor means that neither can be told apart from the control: the figure is the driver's or
	// the machine's.
	Floor bool `json:"floor,omitempty"`
}
