package result

// A Figure is one measured value over the rounds.
type Figure struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// A Ratio compares two things round by round: the median of the paired ratios and its confidence
// interval.
type Ratio struct {
	Median     float64 `json:"median"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"` // of the interval, such as 0.95
	Rounds     int     `json:"rounds"`
}

// An Excess is a figure of one thing minus that of another, round by round: the median of the paired
// differences and its confidence interval.
type Excess struct {
	Median     float64 `json:"median"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	Rounds     int     `json:"rounds"`
}
