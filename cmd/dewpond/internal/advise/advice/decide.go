package advice

import (
	"fmt"
	"go/token"
	"strings"
	"unicode"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/evidence"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// The bounds of what the tools are for, in bytes of a block or pieces of one caller.
const (
	leastBlock  = 64
	largeBlock  = 64 << 10
	mostBlock   = 1 << 20 // of the default classes
	smallPiece  = 1 << 10
	mostCleared = 4 << 10 // what a Pool clears without a Reset
	manyPieces  = 8
)

// longLived is how long, in seconds, something lives that is kept and replaced, and not made for a
// request, however seldom the collector runs.
const longLived = 1

// lasting reports whether a site's blocks live from one collection to the next, so that they are kept and
// replaced: what is replaced as fast as the heap grows to twice of it lives for just that long.
func (f Facts) lasting(at *sites.Site) bool {
	return at.Below == 0 && at.Life.Known() && (at.Life.Mid >= longLived || f.Known && !f.Brief(at))
}

// decide gives the site its advice, and says why.
func (s *Site) decide(f Facts, at *sites.Site, found evidence.Finding, set Settings) {
	s.Advice, s.Why = string(found.Tool), found.Why
	none := func(format string, a ...any) {
		s.Advice, s.Why = string(evidence.None), fmt.Sprintf(format, a...)
	}
	size := meanSize(at)
	switch {
	case found.Tool == evidence.None:
		return
	case s.CollectorCPU.Known() && s.CollectorCPU.Mid < set.MinGain && at.Share.Mid < set.MinGain:
		none("%s of the bytes", figure.Percent(at.Share.Mid))
		return
	case kept(at):
		none("kept: %s more of it live at the end of the window than at its beginning, so it does not come back", figure.ByteSize(at.Grown))
		return
	case size < leastBlock:
		none("blocks of %s: a pool costs as much as they do below %d B", figure.ByteSize(size), leastBlock)
		return
	case found.Tool == evidence.Unknown:
		return
	case s.overLimit(f):
		none("under the memory limit the %s that a pool would keep idle take more of the collector's room than the site's bytes: do not pool this, or bound it with MaxIdleBytes below %s",
			figure.ByteSize(s.idle.Mid), figure.ByteSize(s.BreakEven.Mid))
		return
	case len(at.Sizes) == 1 && f.Brief(at) && at.Life.High < longLived && found.Tool == evidence.BytePool && evidence.OnMain(at.Stacks):
		none("one size, short lived, on one goroutine: a sync.Pool of pointers does as well")
		return
	case s.CollectorCPU.Known() && s.CollectorCPU.Mid < set.MinGain:
		none("saves %s of the collector's CPU", figure.Percent(max(0, s.CollectorCPU.Mid)))
		return
	}
	if found.Tool == evidence.BytePool && found.Inside && size <= smallPiece && at.Life.High < longLived && s.pieces(f, at, found) >= manyPieces {
		s.Advice = string(evidence.Scope)
		found.Tool = evidence.Scope
		found.Use = "scope := pool.Scope(), scope.Get(n) for each, and scope.Close() when all of them are done"
	}
	s.Why = found.Why + ": " + found.Use
	if f.lasting(at) {
		s.Why += "; it lives for " + figure.Duration(at.Life.Mid*1e9) + " on average, so put it back where it is replaced"
		if at.Life.Mid < longLived {
			s.Why += ", or where the request ends"
		}
	}
	s.Declare, s.Options = found.Declare, s.options(f, at, found, size)
}

// kept reports whether most of what the site has allocated has stayed.
func kept(at *sites.Site) bool {
	total := at.Bytes.Mid
	return at.Life.Known() && at.Below == 0 && at.Grown > 0 && at.Share.Mid > 0 && at.Grown > total*at.Seconds/2
}

// overLimit reports whether the idle bytes of the site's pool cost more collections than it saves.
func (s *Site) overLimit(f Facts) bool {
	return f.Known && s.BreakEven.Known() && s.idle.Known() && s.idle.Mid > s.BreakEven.Mid
}

// pieces returns how many blocks one call of the function makes: as the source says, or in comparison
// with what else the function makes, or what its caller has others make.
func (s *Site) pieces(f Facts, at *sites.Site, found evidence.Finding) float64 {
	if found.Pieces > 0 {
		return float64(found.Pieces)
	}
	most := 0.0
	for _, other := range f.Window.Sites {
		if other != at && (other.Function == at.Function || caller(other) != "" && caller(other) == caller(at)) {
			most = max(most, at.Objects.Low/other.Objects.High)
		}
	}
	return most
}

// caller returns the function that calls a site most often, or nothing.
func caller(s *sites.Site) string {
	if len(s.Stacks) == 0 || len(s.Stacks[0].Callers) == 0 {
		return ""
	}
	return s.Stacks[0].Callers[0].Function
}

func meanSize(at *sites.Site) float64 {
	if at.Objects.Mid == 0 {
		return 0
	}
	return at.Bytes.Mid / at.Objects.Mid
}

// options returns the options of the pool to paste. What a profile cannot know is left at its default.
func (s *Site) options(f Facts, at *sites.Site, found evidence.Finding, size float64) string {
	var fields []string
	add := func(name, value string) { fields = append(fields, name+": "+value) }
	add("Name", fmt.Sprintf("%q", poolName(at)))
	switch found.Tool {
	case evidence.Pool:
		if found.New != "" {
			add("New", found.New)
		}
		switch {
		case found.Reset != "":
			add("Reset", found.Reset)
		case size > mostCleared && found.New == "":
			add("Reset", "func(v *"+found.Type+") { *v = "+found.Type+"{} }")
			s.Why += "; it is of more than 4 KiB, so better a Reset that clears no more than what was written"
		}
		return "dewpond.PoolOptions[" + found.Type + "]{" + strings.Join(fields, ", ") + "}"
	case evidence.SlicePool:
		return "dewpond.SlicePoolOptions[" + found.Type + "]{" + strings.Join(fields, ", ") + "}"
	}
	if large := largest(at); large > mostBlock {
		add("Classes", fmt.Sprintf("append(dewpond.DefaultClasses(), %d)", large))
	}
	if f.Known && s.BreakEven.Known() && s.BreakEven.Low < 64<<20 {
		add("MaxIdleBytes", amountOf(s.BreakEven.Low))
	}
	if f.Quiet && size >= largeBlock {
		add("IdleTimeout", "2 * time.Minute")
		s.Why += "; the program has idle times between its bursts, for which IdleTimeout keeps the blocks, and package offheap gives their memory back after it"
	}
	return "dewpond.BytePoolOptions{" + strings.Join(fields, ", ") + "}"
}

// amountOf returns a number of bytes as Go has it, rounded down to a whole unit.
func amountOf(bytes float64) string {
	for shift := 30; shift > 0; shift -= 10 {
		if n := int64(bytes) >> shift; n >= 4 {
			return fmt.Sprintf("%d << %d", n, shift)
		}
	}
	return amount.Text(int64(bytes))
}

// largest returns the largest size that the site has allocated.
func largest(at *sites.Site) int64 {
	var most int64
	for size := range at.Sizes {
		most = max(most, size)
	}
	return most
}

// poolName returns a name for the pool of a site: that of its function.
func poolName(at *sites.Site) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '.':
			return r
		}
		return -1
	}, at.Name())
	name = strings.Trim(name, ".")
	if name == "" || !token.IsIdentifier(strings.ReplaceAll(name, ".", "_")) {
		return "pool"
	}
	return name
}
