package main

// adviseCommand has a subcommand for each question. Each is in a file of its own.
type adviseCommand struct {
	Sites adviseSitesCommand `cmd:"" default:"withargs" help:"The default: which allocations to pool, with what, and what that buys."`

	Settings adviseSettingsCommand `cmd:"" help:"What other values of GOGC and GOMEMLIMIT would make of a program."`

	Capacity adviseCapacityCommand `cmd:"" help:"How much memory a program needs for a rate of requests."`
	CPU      adviseCPUCommand      `cmd:"" name:"cpu" help:"What memory costs by a CPU profile: allocation, marking, sweeping, clearing, pools, locks, page faults."`
}
