package dewpond

// A SliceBodyPool is to a [SlicePool] what a [BodyPool] is to a [BytePool]: it hands out slices
// whose number of elements nobody knows beforehand, and that grow by the built-in append. It
// learns from those that are put back which size to hand out, and adopts those that append has
// moved to memory of their own. Make one with [SlicePool.Bodies] for each kind of slice.
//
// All methods may be called by any number of goroutines at once. What is said of a BodyPool
// of sizes, statistics and leaks holds here too.
type SliceBodyPool[T any] struct{ bodies *BodyPool }

// Get returns an empty slice with room for as many elements as slices have had, or an idle one
// with up to twice that. The caller owns it until [SliceBodyPool.Put]. Like [SlicePool.Get] it
// is never refused.
func (p *SliceBodyPool[T]) Get() []T { return sliceOf[T](p.bodies.Get(), 0) }

// Put gives back a slice that has grown from what [SliceBodyPool.Get] returned, whether append
// has moved it or not, as [SlicePool.Adopt] does. The SliceBodyPool learns from the length of s, or if
// that is 0 from the cap, as [BodyPool.Put] does. Put ignores a slice of cap 0.
func (p *SliceBodyPool[T]) Put(s []T) { p.bodies.Put(bytesOf(s)) }
