package digest

import "github.com/dewpond/dewpond/instruments/kit/result"

// Rounds are the measured rounds of one scenario, for comparisons of any two contenders.
type Rounds struct{ all []*series }

// NewRounds returns an error if a histogram cannot be read.
func NewRounds(rounds []result.Round) (Rounds, error) {
	all, err := group(rounds)
	return Rounds{all}, err
}

// Compare compares a figure of one contender with that of another, in the rounds that both
// completed: by its ratio or, if the other has zero in one of them, by its difference. Both are nil
// if no round has both.
func (r Rounds) Compare(one, other, name string) (*result.Ratio, *result.Excess) {
	a, b := find(r.all, one), find(r.all, other)
	if a == nil || b == nil {
		return nil, nil
	}
	pairs := paired(a, b)[name]
	if len(pairs) == 0 {
		return nil, nil
	}
	if q, ok := ratio(name, pairs); ok {
		return &q, nil
	}
	d := difference(pairs)
	return nil, &d
}
