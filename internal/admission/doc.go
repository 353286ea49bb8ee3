// Package admission decides who may have a block of a pool: at once, later, or never. It
// is the limits of package dewpond without its memory: AllocLimit (limiter.go), the Budget
// that several pools share (budget.go, room.go), and those who wait for either (waiter.go,
// queue.go), behind one Gate for each pool (gate.go, put.go). They are one package because
// they have one lock: that of a Budget is the lock of its pools' queues, and a waiter
// stands in the lists of both.
//
// # How a waiter is served
//
// A waiter can be served in two ways, and stands in lists for both. One is a block of its
// class, from a Put (hand) or from the engine (serveLocked). The other is leave to allocate,
// which takes two steps: a miss that AllocLimit allows (the line), then bytes that the Budget
// has left (the claims). A waiter for more than any class holds stands among the claims
// alone. Whoever serves a waiter, or ends its wait because the pool is closed, takes it out of
// all its lists, under the lock, and sends it one grant. A waiter that gives up takes itself
// out, under the same lock, unless a grant was sent before: then it takes the grant.
//
// In each list the first comes first. The claims of all pools of a Budget are served by
// turn, the order in which the waiters began to wait for any of the pools, also where
// AllocLimit has delayed one of them. While an older waiter has a claim, no younger one
// gets a block: the block is let go, and its bytes are for the older one.
//
// # Why no wake-up is lost
//
// Whoever gives something back counts it first and looks for waiters second. Whoever begins
// to wait counts itself first and looks second. Both counts and both looks are atomic, so
// all goroutines see them in one order, and the one whose count comes second sees the
// other's:
//
//   - Put leaves its block with the engine and then looks at Engine.Waiting (serve), while
//     a waiter calls Engine.Wait and then looks for a block (serveLocked). The engine is
//     gathered before: in a sharded one Put looks at nothing.
//   - Whatever lets a block go takes its bytes off the Budget (uncharge) and then looks at
//     Budget.waiting (serve), while a claim counts itself there and then looks for bytes,
//     and lets idle blocks of all pools go (claimLocked).
//   - Put leaves its block with the engine and then looks at Budget.waiting (returned),
//     against the same claim.
//
// What is given back under the lock itself, a waiter's miss or its place before others, is
// passed on before the lock is let go (passOnLocked).
//
// The scenarios of internal/proof/explore run the files of this package as they ship, up to
// where a waiter would sleep, in every order of their steps.
package admission
