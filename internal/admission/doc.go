// Package admission decides who gets a block of a pool: at once, later, or never. It holds
// the limits of package dewpond, without the memory: AllocRate (limiter.go), the Budget that
// several pools share (budget.go, room.go) and the waiters for either (waiter.go, queue.go).
// Each pool uses them through one [Gate] (gate.go, put.go). They are one package because they
// have one lock: the lock of a [Budget] is the lock of its pools' queues, and a waiter stands
// in the lists of both.
//
// # How a waiter is served
//
// A waiter can be served in two ways, and stands in lists for both. One is a block of its
// class, from a Put (hand) or from the engine (offerBlocks). The other is permission to
// allocate, which takes two steps: a miss that AllocRate allows (the line), then bytes that
// the Budget has left (the claims). A waiter for more than any class holds stands among the
// claims alone. The goroutine that serves a waiter, or ends its wait because the pool is
// closed, takes it out of all its lists, under the lock, and sends it one grant. A waiter
// that gives up takes itself out, under the same lock, unless a grant was sent before: then
// it takes the grant.
//
// A waiter may want several blocks: a batch. It collects the blocks that are handed to it
// until it has all of them, or until it may allocate those that it lacks, all at once: first
// AllocRate must allow their misses, then the Budget must have their bytes. Misses for blocks
// that it collects later go back. Whatever serves one waiter may serve others, also the one whose
// call it is: misses come due while their timer is late, and bytes are uncharged before grantBytes
// has the lock. So a loop that serves waiters asks at each turn who is first, and one that acts for
// a waiter whether that still waits.
//
// Each list is served in order of arrival. The claims of all pools of a Budget are served by
// turn: the order in which the waiters began to wait for any of the pools, even if AllocRate
// has delayed one of them. While an older waiter has a claim, no younger waiter gets a block:
// the block is freed, and its bytes are for the older waiter.
//
// # Why nobody waits forever
//
// Only waiters can wait for each other forever, because callers that wait hold nothing else.
// So it is enough that the oldest waiter of a Budget is served once callers have put back what
// they have. While it stands in line, time allows its misses: it is the first in line of its
// pool, and each line is served by time alone. Once it has a claim, that is the first, and all
// bytes that callers give back are for it. What younger batches have collected cannot be
// missing: they collect nothing while there is an older claim, and a claim that comes to be
// the first, because AllocRate has delayed it, takes back from the younger what they have
// (takeBackLocked). AllocRate can allow any batch all of its misses, even if it has lost what
// it had collected, because no other batch may wait (ever).
//
// # Why no wake-up is lost
//
// A goroutine that gives something back counts it first and looks for waiters second. A
// goroutine that begins to wait counts itself first and looks second. Both counts and both
// looks are atomic, so all goroutines see them in one order, and the goroutine that counts
// second sees the other's count:
//
//   - Put leaves its block with the engine and then looks at Engine.Waiting (offerBlocks).
//     A waiter calls Engine.Wait and then looks for a block (offerBlocksLocked). The engine is
//     in direct mode before that, because in a sharded engine Put does not look.
//   - A goroutine that frees a block takes its bytes off the Budget (uncharge) and then looks
//     at Budget.waiting (grantBytes). A claim counts itself there and then looks for bytes,
//     and frees idle blocks of all pools (claimLocked).
//   - Put leaves its block with the engine and then looks at Budget.waiting (returned),
//     against the same claim.
//
// What is given back under the lock itself, a waiter's misses or its place before others, is
// passed on before the lock is released (passOnLocked, restoreLocked). A batch that has got
// one more block wants fewer misses and bytes than before, and is looked at again
// (proceedLocked).
//
// The scenarios of instruments/proof/explore run the files of this package as they ship, up to
// where a waiter would sleep, in every order of their steps.
package admission
