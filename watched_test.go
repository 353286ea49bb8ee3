package dewpond_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
)

// With -dewpond.memory=watched the pools that tests make are those of dewtest: a test
// that puts back twice, writes late or leaves anything out fails. Pools that set Check
// or OnViolation for themselves are theirs.

// watched says that it is so now.
var watched bool

// notWatched are the tests that do not fit, each with what it looks at.
var notWatched = map[string]string{
	"FuzzBytePool":                  "each Get with a model that knows no quarantine",
	"TestBoundsHold":                "how much is idle: the quarantine has its own share of it",
	"TestBudgetGathersAndScatters":  "gathering: a pool with CheckAll is gathered for good",
	"TestPoolScatters":              "gathering: a pool with CheckAll is gathered for good",
	"TestDecayIgnoresBubbles":       "misses, of which a quarantine makes more",
	"TestSurvivesCollections":       "misses, of which a quarantine makes more",
	"TestHitDoesNotAllocate":        "allocations",
	"TestExchangeDoesNotAllocate":   "allocations",
	"TestLeaseReusesHandles":        "allocations",
	"TestPoolHitDoesNotAllocate":    "allocations",
	"TestBufferAllocations":         "allocations",
	"TestScopeAllocations":          "allocations",
	"TestScopeFollowsZeroPolicy":    "what a block has in it, which is poison now",
	"TestPoolTrimOutlivesPanics":    "a Drop that panics, as it does again in Close",
	"TestReportLeaks":               "what a pool without checks reports",
	"TestPutRefuses":                "misuse",
	"TestScopeSliceIsAligned":       "misuse",
	"TestPutAcceptsAnyLength":       "strangers, which are welcome else",
	"TestAfterClose":                "strangers",
	"TestBudgetAndStrangers":        "strangers",
	"TestOwnershipTable":            "misuse",
	"TestSourceRefusesForeign":      "misuse",
	"TestStatsAreExactWhenQuiet":    "misuse",
	"TestInUseIsClamped":            "strangers",
	"TestTrimmedBlocksAreCollected": "strangers",

	"TestPoolScattersByAnyClock":       "gathering: a pool with CheckAll is gathered for good",
	"TestHighPressureTrimsOnceASecond": "counts: the misses of pools that are gathered",
	"TestLostBlocksAreCollected":       "leaks, on purpose",

	"TestBudgetRefusesStrangers":          "strangers",
	"TestBudgetKnowsWhoseBlockItIs":       "strangers",
	"TestStrangerAtALostBlocksAddress":    "strangers",
	"TestBudgetHoldsAboveTheLargestClass": "strangers",
}

// leaveOut are the tests that end with something out: they are watched but for leaks.
var leaveOut = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`
		TestBudgetFollowsModel TestBudgetLetsIdleBlocksGo TestBudgetWakesWaiters TestBudgetWaiterMissesNothing
		TestBudgetIsFairToOtherPools TestBudgetWakeUpIsNotLost TestPrewarmServesBudget TestBudgetWaiterGivesUp
		TestBudgetWithAllocLimit TestBudgetServesFirstWhomAllocLimitDelayed
		TestBudgetDoesNotKeepTheOlderWaiting TestBudgetAndPanickingAlloc TestBudgetKeepsIdleBlocksFromTheRefused
		TestCollectedPoolAndBubble TestGrow TestLeaseFollowsModel TestLeaseGenerationsEnd TestTryGetObeysAllocLimit
		TestGetContextWaits TestGetContextServesInOrder TestWaiterIsNotOvertaken TestPrewarmServesWaiters
		TestNoIdlePoolServesWaiters TestGetContextOfManyClasses TestGetContextCancelled TestCloseEndsWaits
		TestAllocLimitLimitsAllocations TestRefusedCountsWhatIsReturned
		TestFailedAllocationIsNotCounted TestOptionsAreCopied TestPoolLimit TestPoolLimitIgnoresStrangers
		TestClosedPoolCountsWhatIsOut TestPoolServesWaitersInOrder TestPoolGetContextWithAnEndedContext
		TestPoolSetsPlainStructsToZero TestPoolNewReturnsNil TestPoolStats TestScope TestScopeOutlivesPanics
		TestSourceGetsEveryBlockBack TestPrewarm TestGrowAndAppendLeaveNothingBehind
		TestEmptyMagazinesUnderPressure`) {
		leaveOut[name] = true
	}
}

// seen are those of leaveOut that ran, and whether they left anything out.
var seen = struct {
	sync.Mutex
	left map[string]bool
}{left: map[string]bool{}}

// watches reports whether a pool of these options is to fail its test at any misuse.
func watches(t testing.TB, mode dewpond.CheckMode, on func(dewpond.Violation)) bool {
	return watched && mode == dewpond.CheckOff && on == nil && notWatched[base(t.Name())] == ""
}

func base(test string) string {
	name, _, _ := strings.Cut(test, "/")
	return name
}

// watchedPool is dewtest.NewBytePool, and watchedObjects is dewtest.NewPool, but for
// tests that leave something out. A collection's tick has a block of the quarantine in
// hand, which who counts may miss: so those alone decay that say an IdleTimeout.
func watchedPool(t testing.TB, o dewpond.BytePoolOptions) *dewpond.BytePool {
	if o.IdleTimeout == 0 {
		o.IdleTimeout = -1
	}
	if !leaveOut[base(t.Name())] {
		return dewtest.NewBytePool(t, o)
	}
	o.Check, o.OnViolation = dewpond.CheckAll, allButLeaks(t)
	p, err := dewpond.NewBytePool(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endWatch(t, p) })
	return p
}

func watchedObjects[T any](t testing.TB, o dewpond.PoolOptions[T]) *dewpond.Pool[T] {
	if o.IdleTimeout == 0 {
		o.IdleTimeout = -1
	}
	if !leaveOut[base(t.Name())] {
		return dewtest.NewPool(t, o)
	}
	o.Check, o.OnViolation = dewpond.CheckAll, allButLeaks(t)
	p := dewpond.NewPool(o)
	t.Cleanup(func() { endWatch(t, p) })
	return p
}

func allButLeaks(t testing.TB) func(dewpond.Violation) {
	return func(v dewpond.Violation) {
		if v.Kind != dewpond.Leak {
			t.Errorf("%v", v)
			return
		}
		sawLeak(t, true)
	}
}

func endWatch(t testing.TB, p interface {
	ReportLeaks() int
	Close() error
}) {
	sawLeak(t, p.ReportLeaks() > 0)
	p.Close()
}

func sawLeak(t testing.TB, any bool) {
	seen.Lock()
	defer seen.Unlock()
	seen.left[base(t.Name())] = seen.left[base(t.Name())] || any
}

// runWatched fails also where a test of leaveOut left nothing out.
func runWatched(m *testing.M) int {
	watched = true
	code := m.Run()
	seen.Lock()
	defer seen.Unlock()
	for _, name := range slices.Sorted(maps.Keys(seen.left)) {
		if !seen.left[name] {
			fmt.Printf("%s leaves nothing out: take it off leaveOut\n", name)
			code = max(code, 1)
		}
	}
	return code
}

// The tests that are named here exist.
func TestWatchedTestsExist(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(notWatched)), slices.Collect(maps.Keys(leaveOut))) {
		if !strings.Contains(all.String(), "func "+name+"(") {
			t.Errorf("there is no %s", name)
		}
	}
}
