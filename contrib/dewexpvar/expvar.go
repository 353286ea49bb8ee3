package dewexpvar

import (
	"expvar"
	"sync"

	"github.com/dewpond/dewpond/internal/metric"
)

// Publish publishes [Var] as the variable "dewpond". A second call does nothing.
func Publish() { publish() }

var publish = sync.OnceFunc(func() { expvar.Publish("dewpond", Var()) })

// Var returns the statistics as a variable, for those who publish it under another name.
func Var() expvar.Var { return expvar.Func(read) }

// PublishShards publishes [Shards] as the variable "dewpond_shards". A second call does nothing.
func PublishShards() { publishShards() }

var publishShards = sync.OnceFunc(func() { expvar.Publish("dewpond_shards", Shards()) })

// Shards returns what each P, a processor of Go's scheduler, has idle for itself in each pool, as a
// variable with an object for each pool, in which the number of the P is the key:
//
//	{"frames": {"shard_blocks": {"0": 2, "1": 0}, "shard_bytes": {"0": 1024, "1": 0}}}
//
// It is one of its own because few need it, and it has two numbers for each pool and P.
func Shards() expvar.Var { return expvar.Func(readShards) }

func readShards() any {
	all := map[string]any{}
	for s := range metric.ReadShards() {
		within(within(all, s.Of[0]), s.Name)[s.Of[1]] = s.Value
	}
	return all
}

// groups are the keys under which the values of a first label are.
var groups = map[string]string{"pool": "pools", "budget": "budgets"}

func read() any {
	all := map[string]any{"pools": map[string]any{}, "budgets": map[string]any{}}
	for s := range metric.Read() {
		at, name, labels := all, s.Name, s.Values()
		if len(labels) > 0 {
			at = within(within(all, groups[s.Labels[0]]), labels[0])
			labels = labels[1:]
		}
		for _, label := range labels {
			at, name = within(at, name), label
		}
		if s.Kind == metric.Histogram {
			at, name = within(at, name), metric.Unbounded
			for _, b := range s.Buckets {
				at[b.Label()] = b.Count
			}
		}
		at[name] = s.Value
	}
	return all
}

// within returns the object that is at[key], which it makes if there is none.
func within(at map[string]any, key string) map[string]any {
	if at[key] == nil {
		at[key] = map[string]any{}
	}
	return at[key].(map[string]any)
}
