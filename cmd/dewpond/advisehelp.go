package main

// Help says what the questions are.
func (*adviseCommand) Help() string {
	return `Reads what a program has measured of itself, and says what would become of its garbage collector. It only reads, and says first what that costs the program. Each figure has its 95 % interval; where that is too wide, the answer is "cannot tell" and what to collect instead.

Examples:

    # which of my allocations should I pool?
    dewpond advise http://localhost:6060/debug/pprof
    # what would another GOGC, or a memory limit, make of it?
    dewpond advise settings http://localhost:6060
    # how much memory does it need for that?
    dewpond advise capacity --rate 1500 --latency 42ms URL
    # what does memory cost, by a CPU profile?
    dewpond advise cpu http://localhost:6060
    # from which files, and what its JSON has
    dewpond advise sites --help
`
}

// Help says what the sources are, how the answer is reckoned, and what the JSON has.
func (*adviseSitesCommand) Help() string {
	return `Lists the lines of your module that allocate most, which tool of dewpond replaces each, or why none, and how many collections there would be then. What a line makes is read from the source; without it the tool is "unknown". docs/advise.md has the table of tools, and how well predictions have held.

Sources: the URL of a program that imports net/http/pprof; or files, saved at the beginning and at the end of some time under load. Files of more than two times may be given, in order:

    curl -o 1.pb.gz URL/debug/pprof/allocs
    curl -o 1.txt 'URL/debug/pprof/heap?debug=1'
    curl -o cpu.pb.gz 'URL/debug/pprof/profile?seconds=30'
    curl -o 2.pb.gz URL/debug/pprof/allocs
    curl -o 2.txt 'URL/debug/pprof/heap?debug=1'

A gctrace of that time, from GODEBUG=gctrace=1, does in the place of heap?debug=1: it has the collections, what lives, the goal, and what the collector takes, in whole MiB.

Examples:

    # 30 s of a running program
    dewpond advise http://localhost:6060
    # the same from files
    dewpond advise 1.pb.gz 2.pb.gz 1.txt 2.txt cpu.pb.gz
    # from profiles and a gctrace
    dewpond advise 1.pb.gz 2.pb.gz stderr.txt
    # fails in CI if a tenth could be saved
    dewpond advise --check --min-gain 10 URL
    # what would 64 MB idle cost?
    dewpond advise --memory-limit 512MiB --idle 64MB URL

JSON: an estimate is {"low", "mid", "high"}, or {"cannot_tell": "why"}. Times are in seconds, sizes in bytes, shares parts of 1.

    collector     collections_per_second, cpu_share, live_bytes, goal_bytes:
                  estimates
                  gogc (-1: off), limit_bytes (0: none), setting_known,
                  collections, forced_collections,
                  cpu_share_from: numbers, and a text
    sites[]       function, file, line, samples, advice, why, declare, options,
                  stack
                  bytes_per_second, objects_per_second, live_bytes,
                  collections_saved (a second),
                  collector_cpu_saved (of the collector's),
                  allocation_cpu_saved (of the CPU), break_even_idle_bytes:
                  estimates
                  mean_life_seconds (an estimate), or mean_life_below_seconds
                  sizes: objects a second by class, {"1024": an estimate}
    together      sites (places in sites, from 1), collections_per_second,
                  idle_bytes
    pools[]       of pools that the program has: name, gets, hits,
                  dropped (in the window), idle_bytes, in_use_bytes,
                  findings[] (finding, option), and of one in checked mode
                  sampled: out_seconds, idle_seconds, asked_bytes (watched,
                  p50, p90; the last two are estimates), cap_bytes, which
                  holds nine of ten
    verdict       pool, nothing, limit or cannot tell
    allocation_cpu_share, window_seconds, sampled_one_in_bytes, notes

Exit codes: 0 done, 1 --check found a site worth a pool, 2 the sources or the flags are wrong, 130 Ctrl-C, 143 SIGTERM.
`
}
