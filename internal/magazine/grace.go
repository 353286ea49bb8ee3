package magazine

import "github.com/dewpond/dewpond/internal/percpu"

// gracePeriod is [percpu.Grace], except in the tests that show what happens without it.
var gracePeriod = percpu.Grace
