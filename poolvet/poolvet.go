// Package poolvet finds misuse of pools: use after Put, a second Put, memory that is
// returned although it goes back to its pool. It knows sync.Pool, dewpond and other pools,
// and finds the functions that wrap them by itself.
//
// Each check is an analyzer in a package of its own, for use in any driver of
// golang.org/x/tools/go/analysis. The command poolvet runs them:
//
//	go vet -vettool=$(which poolvet) ./...
//
// docs/poolvet.md has a paragraph on each.
package poolvet

import (
	"golang.org/x/tools/go/analysis"

	"github.com/dewpond/dewpond/poolvet/badget"
	"github.com/dewpond/dewpond/poolvet/buffer"
	"github.com/dewpond/dewpond/poolvet/deferput"
	"github.com/dewpond/dewpond/poolvet/doubleput"
	"github.com/dewpond/dewpond/poolvet/ignore"
	"github.com/dewpond/dewpond/poolvet/lease"
	"github.com/dewpond/dewpond/poolvet/missingput"
	"github.com/dewpond/dewpond/poolvet/needless"
	"github.com/dewpond/dewpond/poolvet/noreset"
	"github.com/dewpond/dewpond/poolvet/overwrite"
	"github.com/dewpond/dewpond/poolvet/percall"
	"github.com/dewpond/dewpond/poolvet/returnput"
	"github.com/dewpond/dewpond/poolvet/scope"
	"github.com/dewpond/dewpond/poolvet/unfit"
	"github.com/dewpond/dewpond/poolvet/useafterput"
	"github.com/dewpond/dewpond/poolvet/wrongput"
)

// Analyzers returns the checks that are on.
func Analyzers() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		useafterput.Analyzer,
		doubleput.Analyzer,
		returnput.Analyzer,
		wrongput.Analyzer,
		lease.Analyzer,
		scope.Analyzer,
		buffer.Analyzer,
		unfit.Analyzer,
		badget.Analyzer,
		percall.Analyzer,
		overwrite.Analyzer,
		deferput.Analyzer,
		missingput.Analyzer,
		ignore.Analyzer,
	}
}

// OnRequest returns the checks that run if they are asked for: what they find costs memory or
// time, or is meant more often than not.
func OnRequest() []*analysis.Analyzer {
	return []*analysis.Analyzer{needless.Analyzer, noreset.Analyzer}
}
