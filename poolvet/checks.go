// Package poolvet finds misuse of pools: use after Put, a second Put, memory that is
// returned although it goes back to its pool. It knows sync.Pool, dewpond and other pools,
// and finds the functions that wrap them by itself.
//
// Each check is an analyzer, for use in any driver of golang.org/x/tools/go/analysis. The command poolvet runs them:
//
//	go vet -vettool=$(which poolvet) ./...
//
// docs/poolvet.md has a paragraph on each.
package poolvet

import (
	"golang.org/x/tools/go/analysis"

	"github.com/dewpond/dewpond/poolvet/internal/flow"
)

// The checks that are on by default.
var (
	// UseAfterPut finds values used after their Put.
	UseAfterPut = flow.Check("useafterput", `find values used after their Put

What was put into a pool may have another owner at once. A read sees that owner's bytes, and
a write is seen by it. The check follows the object, its fields, slices of it and what
Bytes returns along each way on from the Put, through variables, fields and closures.`)

	// DoublePut finds values put back twice.
	DoublePut = flow.Check("doubleput", `find values put twice on one path

Then the pool hands it to two owners. A Put in a loop, one that is deferred as well, and
one that a callee has done already count.`)

	// ReturnPut finds values returned although a deferred Put puts them back.
	ReturnPut = flow.Check("returnput", `find values returned, stored or sent although a deferred Put puts them back

The caller gets memory that the pool hands to somebody else. Return a copy, or let the
caller put it back.`)

	// WrongPut finds slices that dewpond's Put refuses or takes for another block.
	WrongPut = flow.Check("wrongput", `find what is put back that is not a block of the pool

A slice that starts later than its block, one that append may have moved, one that make
has made, and one of another pool: dewpond refuses what it can tell, and takes the rest for
a block of its own.`)

	// Lease finds slices of a lease used after its Release.
	Lease = flow.Check("lease", `find slices of a lease that are used after its Release

The slice that Bytes returns belongs to the next owner then. A Release of a lease that
was released is found as well, and a Truncate whose result is dropped.`)

	// Scope finds pieces that outlive their scope.
	Scope = flow.Check("scope", `find pieces of a scope that outlive its Close

They are returned, stored, sent or captured by a goroutine, or the scope is used after Close.`)

	// Buffer finds slices of a buffer used after it has moved on.
	Buffer = flow.Check("buffer", `find slices of a dewpond.Buffer that are used after its next write

What Bytes, Next, Peek and AvailableBuffer return is valid until the next write, Grow or
Release.`)

	// Unfit finds pools of values that are not memory.
	Unfit = flow.Check("unfit", `find pools of handles

A connection, a file, a context or a mutex stands for something outside the memory. It must
be closed, and no two are alike, so a pool of them loses or mixes what they stand for.`)

	// BadGet finds Gets asserted to be of a type that New does not make.
	BadGet = flow.Check("badget", `find a Get that is asserted to be what New does not make

It panics, if not at once then where the pool is empty: New returns another type, or there
is no New and Get returns nil.`)

	// PerCall finds pools that a function creates on each call.
	PerCall = flow.Check("percall", `find pools of dewpond that a function makes and lets go

Such a pool reuses nothing beyond the call, and is not closed. Keep it, return it or close it.`)

	// Overwrite finds pools that change while they are in use.
	Overwrite = flow.Check("overwrite", `find pools that are overwritten, or get another New, while they are in use

A pool is shared. To assign to it, or to set its New, races with Get and Put elsewhere, and what is in
use then is put back into a pool of another kind. Set up a pool once, where it is made.`)

	// DeferPut finds deferred Puts that come too late or miss the object.
	DeferPut = flow.Check("deferput", `find deferred Puts in loops, and of slices that have grown since

A Put that is deferred in a loop puts nothing back before the function returns. One whose argument is a
slice puts back the slice that it was at the defer statement: what append has moved it to is lost.`)

	// MissingPut finds paths on which a value from a pool is forgotten.
	MissingPut = withSync(flow.Check("missingput", `find a return without a Put where another way has one

What is not put back costs an allocation, and an object of a pool with MaxOut for good.
Objects that are handed on do not count. With -missingput.sync it looks at sync.Pool
as well, where such a loss costs little.`))

	// Ignore finds wrong comments that silence a check.
	Ignore = flow.Check("ignore", `find //poolvet:ignore without a reason, or that silences nothing

//poolvet:ignore doubleput the retry owns it
silences one check on its line and on the next.`)
)

// The checks on request.
var (
	// Needless finds pools of values that are never written.
	Needless = flow.Check("needless", `find pools of values that are never written

An object that nobody writes, as configuration or a value without state, can be shared by all.
A pool of such objects costs time and saves nothing. Only objects of the package's own types
are looked at. The check runs on request.`)

	// NoReset finds objects that keep what their last owner left.
	NoReset = flow.Check("noreset", `find objects of sync.Pool that are reset neither before Put nor after Get

The next owner finds what the last one left in a field. Only pools whose Gets and Puts are
all in one package are looked at. The check runs on request, because many objects have all that
is read of them written first.`)
)

func withSync(a *analysis.Analyzer) *analysis.Analyzer {
	a.Flags.Bool("sync", false, "look at sync.Pool and other pools too")
	return a
}

// Analyzers returns the checks that are on.
func Analyzers() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		UseAfterPut,
		DoublePut,
		ReturnPut,
		WrongPut,
		Lease,
		Scope,
		Buffer,
		Unfit,
		BadGet,
		PerCall,
		Overwrite,
		DeferPut,
		MissingPut,
		Ignore,
	}
}

// OnRequest returns the checks that run if they are asked for: what they find costs memory or
// time, or is meant more often than not.
func OnRequest() []*analysis.Analyzer {
	return []*analysis.Analyzer{Needless, NoReset}
}
