package main

// adviseCommand has a subcommand for each question. Each is in a file of its own.
type adviseCommand struct {
	Sites adviseSitesCommand `cmd:"" default:"withargs" help:"Recommend which allocations to pool, with what, and predict what that buys (default)."`

	Settings adviseSettingsCommand `cmd:"" help:"Predict a program's GC cost and heap for other values of GOGC and GOMEMLIMIT."`

	Capacity adviseCapacityCommand `cmd:"" help:"Predict how much memory a program needs at a request rate."`
	CPU      adviseCPUCommand      `cmd:"" name:"cpu" help:"Attribute a CPU profile to memory: allocation, marking, sweeping, clearing, pools, locks, page faults."`
}
