package metric

import "slices"

// List returns all metrics but those of Shards, those of a pool first.
func List() []*Metric { return slices.Clone(list) }

// Shards returns the metrics of what each P of a pool has. Exporters leave them out unless they are
// asked for: there are two for each pool and processor.
func Shards() []*Metric { return []*Metric{shardBlocks, shardSize} }

var (
	shardBlocks = &Metric{Name: "shard_blocks", OTel: "shard.blocks", Unit: "block", Kind: Sum, Labels: []string{"pool", "shard"},
		Help: "Blocks that are idle for one P, a processor of Go's scheduler, alone; all are in blocks, too."}
	shardSize = &Metric{Name: "shard_bytes", OTel: "shard.memory", Unit: "bytes", Kind: Sum, Labels: []string{"pool", "shard"},
		Help: "Bytes in blocks that are idle for one P alone; all are in bytes, too."}
)

var list []*Metric

func add(kind Kind, name, otel, unit, help string, labels ...string) *Metric {
	m := &Metric{Name: name, OTel: otel, Unit: unit, Help: help, Kind: kind, Labels: labels}
	list = append(list, m)
	return m
}

// Of a class of a pool. Classes without traffic are left out.
var (
	gets = add(Counter, "gets_total", "gets", "get",
		"Gets of each class (block size in bytes) that found an idle block (hit) or allocated one (miss).", "pool", "class", "result")
	puts = add(Counter, "puts_total", "puts", "put",
		"Puts of blocks of each class, including those that were dropped.", "pool", "class")
	blocks = add(Sum, "blocks", "blocks", "block",
		"Blocks of each class that are idle in the pool, or used by callers.", "pool", "class", "state")
)

// Of a pool.
var (
	getsOversize = add(Counter, "gets_oversize_total", "gets_oversize", "get",
		"Gets above the largest class: allocated, never pooled.", "pool")
	getsRefused = add(Counter, "gets_refused_total", "gets_refused", "get",
		"TryGets, GetContexts and GetBatches that returned no block.", "pool")
	getsPastLimit = add(Counter, "gets_past_limit_total", "gets_past_limit", "get",
		"Gets that were served past AllocRate, MaxOut or the Budget.", "pool", "limit")
	getsFallback = add(Counter, "gets_heap_fallback_total", "gets_heap_fallback", "get",
		"Gets that allocated on the heap, because there was no memory off the heap.", "pool")
	getsRecovered = add(Counter, "gets_recovered_total", "gets_recovered", "get",
		"Gets that took a block past the bounds, which the garbage collector had not yet freed: a part of the hits.", "pool")
	putsDropped = add(Counter, "puts_dropped_total", "puts_dropped", "put",
		"Puts that the pool did not keep, by reason.", "pool", "reason")
	doubleReleases = add(Counter, "double_releases_total", "double_releases", "release",
		"Releases of Leases by owners that had released them: each is a bug of the program.", "pool")
	putsAdopted = add(Counter, "puts_adopted_total", "puts_adopted", "put",
		"Slices that somebody else had made and that became blocks of the pool.", "pool")
	getsMinusPuts = add(Sum, "gets_minus_puts", "gets_minus_puts", "block",
		"Gets minus Puts, of any size: if it grows without end, somebody does not put back.", "pool")
	size = add(Sum, "bytes", "memory", "bytes",
		"Bytes in blocks that are idle in the pool, or used by callers.", "pool", "state")
	overhead = add(Sum, "overhead_bytes", "overhead", "bytes",
		"Bytes of the pool's own bookkeeping.", "pool")
	oldestIdle = add(Level, "oldest_idle_seconds", "oldest_idle", "seconds",
		"About how long the oldest idle block has been idle; at most IdleTimeout.", "pool")
	waits = add(Counter, "waits_total", "waits", "wait",
		"GetContexts and GetBatches that slept until there was a block.", "pool")
	waitTime = add(Counter, "wait_seconds_total", "wait.duration", "seconds",
		"Time that all waits slept together.", "pool")
	trimmedBlocks = add(Counter, "trimmed_blocks_total", "trimmed.blocks", "block",
		"Idle blocks that the pool let go, by age, under pressure, by Trim and Close.", "pool")
	trimmedBytes = add(Counter, "trimmed_bytes_total", "trimmed.memory", "bytes",
		"Bytes of the idle blocks that the pool let go.", "pool")
	violations = add(Counter, "violations_total", "violations", "violation",
		"Misuses that checked mode or guarded blocks have found: each is a bug of the program.", "pool")
	guardSamples = add(Counter, "guard_samples_total", "guard.samples", "block",
		"Gets that had a guarded block: see DEWPOND_GUARD.", "pool")

	out = add(Histogram, "sampled_out_seconds", "sampled.out", "seconds",
		"How long blocks were out, of those that checked mode watches.", "pool")
	idle = add(Histogram, "sampled_idle_seconds", "sampled.idle", "seconds",
		"How long blocks were idle, of some that checked mode has watched.", "pool")
	asked = add(Histogram, "sampled_asked_bytes", "sampled.asked", "bytes",
		"Sizes that Gets have asked for, of as many as checked mode watches.", "pool")

	reserved = add(Sum, "offheap_reserved_bytes", "offheap.reserved", "bytes",
		"Address space of a pool off the heap.", "pool")
	committed = add(Sum, "offheap_committed_bytes", "offheap.committed", "bytes",
		"Bytes in pages of a pool off the heap that may be resident.", "pool")
	decommitted = add(Counter, "offheap_decommitted_bytes_total", "offheap.decommitted", "bytes",
		"Bytes that a pool off the heap has given back to the system.", "pool")
)

// Of a Budget, once for all its pools. One without a name is "budget", the next "budget-2".
var (
	budgetLimit = add(Sum, "budget_limit_bytes", "budget.limit", "bytes",
		"Limit of the Budget.", "budget")
	budgetUsed = add(Sum, "budget_used_bytes", "budget.used", "bytes",
		"Bytes of the Budget that all its pools have, idle and used.", "budget")
	budgetOver = add(Sum, "budget_over_bytes", "budget.over", "bytes",
		"Bytes by which the Budget is exceeded now.", "budget")
)

// Of the process.
var pressureLevel = add(Level, "pressure_level", "pressure", "level",
	"How scarce memory is: 0 low, 1 medium (idle memory goes four times as fast), 2 high (all idle memory goes).")
