package dewtest

import (
	"fmt"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/hooks"
)

// ReportLeaks reports every block or object of a pool that is out and watched (see
// [dewpond.BytePoolOptions.Check]) as a [misuse.Leak], those of one place together, and
// returns how many it reported. It reports none twice, and what is put back later is still
// accepted. It does not wait for the report of a leak that the collector has found just now,
// so that OnViolation may call it. It is for the end of a test or of a program, when all must
// have been put back. The pools of this package, and [Main], call it themselves, and wait.
//
// The pool is a [dewpond.BytePool], or a [dewpond.Pool] or [dewpond.SlicePool] of any type.
// ReportLeaks panics if it is something else.
func ReportLeaks(pool dewpond.StatsSource) int {
	n, ok := hooks.ReportLeaks(pool)
	if !ok {
		panic(fmt.Sprintf("dewtest: ReportLeaks of a %T: give a BytePool, a Pool or a SlicePool of dewpond", pool))
	}
	return n
}
