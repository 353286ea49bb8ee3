package amount

import (
	"fmt"
	"strconv"
	"strings"
)

// A Rate is how many there are a second, as a flag takes it: 50 or 50/s.
type Rate float64

// ParseRate reads a number of so many a second, such as "50", "50/s" or "0.5/s".
func ParseRate(text string) (Rate, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no rate: give how many a second, such as 200/s", text)
	}
	return Rate(v), nil
}

// UnmarshalText reads what ParseRate does.
func (r *Rate) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRate(string(text))
	return err
}

// MarshalText writes a rate as UnmarshalText reads it, exactly.
func (r Rate) MarshalText() ([]byte, error) {
	return append(strconv.AppendFloat(nil, float64(r), 'g', -1, 64), "/s"...), nil
}
