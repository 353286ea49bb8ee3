// Package variant has what compare switches: every measure that the load test names, as one struct
// that becomes the service's flags.
package variant

import (
	"fmt"
	"strconv"
)

// The names of the variants that others are compared with.
const (
	Before      = "before"
	Again       = "before, again" // the control of all: what it differs by is noise
	Pools       = "+ pools"
	SyncPool    = "+ sync.Pool" // the control of Pools
	All         = "all"
	AllButPools = "all but pools" // the control of All
	AsPublished = "as published"  // what the load test itself ends with, beside All
)

// A Variant is one way to run the service.
type Variant struct {
	Name, About string
	Tuned       bool   // the scorer's transport
	Client      string // of PostgreSQL
	Open, Idle  int    // its connections; Idle 0: no bound of its own
	MinIdle     int    // of it and of each Redis: what is kept open
	Memory      string // where a request's comes from: the service's flag
	GOGC        int
	Limit       string // of memory; empty: none
}

// The load test's own bounds on connections to the database.
const (
	publishedOpen = 150
	publishedIdle = 100
)

// Variants returns all, the one that others are compared with first. size is of the pool of
// connections, as the pool model has it, and most how many the server takes.
func Variants(size, most int) []Variant {
	before := Variant{
		Name: Before, About: "http.DefaultTransport, database/sql with 50 open and 2 idle, new memory for each request, GOGC=100",
		Client: "pgx-sql", Open: 50, Idle: 2, Memory: "none", GOGC: 100,
	}
	with := func(name, about string, change func(v *Variant)) Variant {
		v := before
		v.Name, v.About = name, about
		change(&v)
		return v
	}
	all := func(v *Variant) {
		v.Tuned, v.Client, v.Open, v.Idle, v.GOGC, v.Limit = true, "pgxpool", size, 0, 150, "4GiB"
	}
	return []Variant{
		before,
		with(Again, "the same once more: what it differs by is noise", func(*Variant) {}),
		with("+ transport", "200 idle connections to the scorer, for 90 s", func(v *Variant) { v.Tuned = true }),
		with("+ db", fmt.Sprintf("database/sql with %d open and as many idle, as the pool model says", size), func(v *Variant) { v.Open, v.Idle = size, size }),
		with("+ pgxpool", fmt.Sprintf("pgxpool with %d open", size), func(v *Variant) { v.Client, v.Open, v.Idle = "pgxpool", size, 0 }),
		with(Pools, "dewpond's pools", func(v *Variant) { v.Memory = "dewpond" }),
		with(SyncPool, "sync.Pool in the same places: the control", func(v *Variant) { v.Memory = "sync.Pool" }),
		with("+ gogc30", "GOGC=30, the publication's choice", func(v *Variant) { v.GOGC = 30 }),
		with("+ gogc150, limit", "GOGC=150 and a memory limit of 4 GiB", func(v *Variant) { v.GOGC, v.Limit = 150, "4GiB" }),
		with(All, "transport, pgxpool, pools, gogc150 and limit", func(v *Variant) { all(v); v.Memory = "dewpond" }),
		with(AllButPools, "the same without pools: the control", all),
		asPublished(with, most),
	}
}

// MostIdle is how many connections [Warm] may keep idle: what the service opens at most to each Redis.
const MostIdle = 32

// Warm is the service as it is by default, with so many connections to PostgreSQL and to each Redis kept
// open; none is its default.
func Warm(idle int) Variant {
	return Variant{Name: "warm", Tuned: true, Client: "pgxpool", Open: 50, Memory: "dewpond", GOGC: 100, MinIdle: idle}
}

// asPublished is all that the load test has done together. Its bounds are clipped to what the server takes.
func asPublished(with func(name, about string, change func(v *Variant)) Variant, most int) Variant {
	open := min(publishedOpen, most)
	idle := min(publishedIdle, open)
	about := fmt.Sprintf("the publication's own end: transport, database/sql with %d open and %d idle, sync.Pool, GOGC=30", open, idle)
	if open < publishedOpen {
		about += fmt.Sprintf("; it has %d open and %d idle, and the server takes %d", publishedOpen, publishedIdle, most)
	}
	return with(AsPublished, about, func(v *Variant) {
		v.Tuned, v.Open, v.Idle, v.Memory, v.GOGC = true, open, idle, "sync.Pool", 30
	})
}

// Args are the service's flags for the variant.
func (v Variant) Args() []string {
	transport := "default"
	if v.Tuned {
		transport = "tuned"
	}
	args := []string{
		"--scorer-transport=" + transport, "--db-client=" + v.Client, "--db-max-open=" + strconv.Itoa(v.Open),
		"--memory=" + v.Memory, "--gogc=" + strconv.Itoa(v.GOGC),
	}
	if v.Idle > 0 {
		args = append(args, "--db-max-idle="+strconv.Itoa(v.Idle))
	}
	if v.MinIdle > 0 {
		args = append(args, fmt.Sprintf("--db-min-idle=%d", v.MinIdle), fmt.Sprintf("--redis-min-idle=%d", v.MinIdle))
	}
	limit := "off"
	if v.Limit != "" {
		limit = v.Limit
	}
	return append(args, "--memory-limit="+limit)
}
