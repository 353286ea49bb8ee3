//go:build (amd64 || 386) && gc && !race

package memory

// OrderedStores says that Issue may be a plain store of 32 bits. On these processors
// atomic.Store is a locked exchange, which Get does not need. An aligned store is seen
// whole, and is not seen before any load or store that precedes it in the program, so
// not before the Get has the block; and the store that hands the block, or the news of
// it, to another goroutine comes later and is seen later. No other goroutine may store
// meanwhile, so nothing is overwritten. A goroutine that compares and swaps at the same
// moment, for a block that was put back twice, sees the word before or after the store.
const OrderedStores = true
