package load

import (
	"math/rand/v2"
	"reflect"
	"slices"
)

// Data is what each session draws anew under a name.
type Data struct {
	Name string
	// Draw returns a value as [encoding/json] gives it, or nil for none. Sessions call it at once, each with
	// random numbers of its own.
	Draw func(*rand.Rand) any
}

// Integers draws a whole number from low to high, both included.
func Integers(name string, low, high int) Data {
	return Data{name, func(r *rand.Rand) any { return low + r.IntN(high-low+1) }}
}

// OneOf draws one of the values. A value is what JSON has: a text, a number, a list or an object,
// as [encoding/json] gives them.
func OneOf(name string, from ...any) Data {
	return Data{name, func(r *rand.Rand) any { return from[r.IntN(len(from))] }}
}

// Sometimes draws true in a share of the sessions, from 0 to 1, and nothing in the others: for
// [Step.When] and [Step.Unless].
func Sometimes(name string, share float64) Data {
	return Data{name, func(r *rand.Rand) any {
		if r.Float64() < share {
			return true
		}
		return nil
	}}
}

// redraws is how often a list draws again what it already has.
const redraws = 10

// ListOf draws a list of n values, which differ where there are enough to draw from: for
// [Step.Each].
func ListOf(n int, d Data) Data {
	return Data{d.Name, func(r *rand.Rand) any {
		list := make([]any, 0, n)
		for range n {
			v := d.Draw(r)
			for i := 0; i < redraws && has(list, v); i++ {
				v = d.Draw(r)
			}
			list = append(list, v)
		}
		return list
	}}
}

func has(list []any, v any) bool {
	return slices.ContainsFunc(list, func(e any) bool { return reflect.DeepEqual(e, v) })
}
