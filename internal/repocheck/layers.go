package repocheck

import (
	"slices"
	"strings"
)

// modulePath is the root module's path. A nested module's path is this and its
// directory.
const modulePath = "github.com/dewpond/dewpond"

// A layer lists the packages of this repository that a package may import. The same
// holds for its tests; its external test may also import the package itself and those
// in testsMay.
type layer struct {
	pkg string   // a directory; "x/..." is x and everything below it; "." is the root
	may []string // directories in the same notation, or ownModule
}

// ownModule stands for every package of the same nested module.
const ownModule = "own module"

// layers is the whole order, from the packages that import most down to those that
// import nothing. The first row that matches a package counts. Add a row with the
// package that needs it; an arrow upwards needs a better reason than that.
var layers = []layer{
	// Modules of their own, for users: they see what a user sees.
	{"cmd/dewpond/...", []string{".", "misuse", "dewsync", "offheap", "pressure", "instruments/kit/...", ownModule}},
	{"instruments/together/...", []string{".", "misuse", "offheap", "pressure", "internal/metric", "contrib/..."}}, // tests alone
	{"contrib/internal/upload", []string{"."}}, // how web adapters read bodies
	{"contrib/internal/upstream", nil},         // for tests alone
	{"contrib/dewecho/...", []string{".", "misuse", "contrib/dewhttp", "internal/turns", ownModule}},
	{"contrib/dewgin/...", []string{".", "misuse", "contrib/dewhttp", "internal/turns", ownModule}},
	{"contrib/...", []string{".", "misuse", "offheap", "pressure", "internal/metric", "internal/turns", "contrib/internal/...", ownModule}},
	{"examples/matchmaker/...", []string{".", "misuse", "checks", "offheap", "pressure", "contrib/...", "instruments/kit/...", ownModule}},
	{"examples/...", []string{".", "misuse", "offheap", "pressure", ownModule}},
	{"instruments/lab/...", []string{".", "misuse", "offheap", "pressure", "contrib/...", "examples/matchmaker/...", "instruments/kit/...", "instruments/load/...", "instruments/lab/..."}},
	{"instruments/load/report", []string{"instruments/kit/...", "instruments/load", "instruments/internal/rates"}}, // no flags, and nothing that runs
	{"instruments/load/...", []string{".", "misuse", "offheap", "pressure", "instruments/kit/...", "instruments/load/...", "instruments/internal/..."}},
	{"instruments/internal/...", []string{".", "misuse", "instruments/kit/...", "instruments/load/...", "instruments/internal/..."}},
	{"instruments/cmd/dewload", []string{".", "misuse", "instruments/kit/...", "instruments/load/...", "instruments/internal/..."}},
	{"poolvet/...", []string{ownModule}}, // it names the pools that it knows, and imports none
	{"tools/release", nil},               // it reads modules as files, and no package imports it

	// The packages that measure import nothing of what they measure.
	{"instruments/kit/...", []string{"instruments/kit/..."}},

	// The proofs take the engine apart.
	{"instruments/proof/...", []string{"..."}},

	// The library.
	{"dewtest", []string{".", "misuse", "offheap", "internal/go125", "internal/hooks"}},
	{"dewsync", []string{".", "misuse", "internal/hooks", "internal/magazine"}},
	{"offheap", []string{".", "misuse", "internal/arena", "internal/hooks", "internal/memory"}},
	{"pressure", []string{"internal/pressure"}},
	{"misuse", nil}, // what users see of internal/check
	{"checks", []string{"internal/check", "misuse"}},
	{".", []string{ // not internal/arena: memory comes through internal/memory
		"internal/admission", "internal/atomics", "internal/bubble", "internal/check", "internal/decay", "internal/guardpage", "internal/hooks", "internal/late", "internal/learn",
		"internal/magazine", "internal/memory",
		"internal/perclass", "internal/percpu", "internal/pressure", "internal/registry", "internal/semaphore", "internal/sizeclass", "misuse",
	}},
	{"internal/admission", []string{
		"internal/atomics", "internal/bubble", "internal/late", "internal/magazine", "internal/memory", "internal/perclass",
	}},
	{"internal/arena", []string{"internal/atomics", "internal/memory"}},
	{"internal/magazine", []string{"internal/atomics", "internal/late", "internal/perclass", "internal/percpu"}},
	{"internal/check", []string{"internal/bubble", "internal/callers", "internal/late", "misuse"}},
	{"internal/guardpage", []string{"internal/bubble", "internal/callers", "internal/check", "misuse"}},
	{"internal/atomics", nil},
	{"internal/bubble", nil},
	{"internal/callers", nil},
	{"internal/decay", []string{"internal/atomics", "internal/bubble"}},
	{"internal/late", nil},
	{"internal/learn", []string{"internal/sizeclass"}},
	{"internal/memory", []string{"internal/atomics"}},
	{"internal/perclass", nil},
	{"internal/percpu", nil},
	{"internal/hooks", nil},
	{"internal/pressure", []string{"internal/memory"}},
	{"internal/registry", nil},
	{"internal/semaphore", []string{"internal/atomics", "internal/bubble"}},
	{"internal/sizeclass", nil},

	{"internal/metric", []string{".", "misuse", "pressure"}},            // what exporters export
	{"internal/attack", []string{".", "misuse", "offheap", "pressure"}}, // a test alone, and as a user sees them

	{"internal/go125/...", nil}, // for tests and dewtest alone
	{"internal/turns", nil},     // for benchmarks alone

	{"internal/repocheck", nil},
}

// testsMay lists what packages' external tests may import in addition.
var testsMay = map[string][]string{
	".":               {"checks", "offheap", "dewtest", "pressure"}, // the tests of byte pools run on both memories, and watched
	"offheap":         {"pressure"},
	"dewsync":         {"internal/turns"},
	"internal/metric": {"offheap"},
	"contrib/...":     {"dewsync", "dewtest"},

	"instruments/together/...": {"dewtest"},
}

// everyTestMay names what any test may import: what Go 1.25 has for tests.
const everyTestMay = "internal/go125/..."

func checkLayers(r *repository, report reporter) {
	unknown := map[string]bool{}
	for _, s := range r.sources {
		row, ok := layerOf(s.dir)
		if !ok {
			if !unknown[s.dir] {
				report(s.path, 0, "package %s is unknown: add it to the table in internal/repocheck/layers.go", s.dir)
			}
			unknown[s.dir] = true
			continue
		}
		for p, spec := range s.imports() {
			if dir, ok := within(p); ok && !row.allows(r, s, dir) {
				report(s.path, r.line(spec.Pos()), "%s may not import %s (see the table in internal/repocheck/layers.go)", s.dir, dir)
			}
		}
	}
}

func layerOf(dir string) (layer, bool) {
	for _, l := range layers {
		if matches(l.pkg, dir) {
			return l, true
		}
	}
	return layer{}, false
}

func (l layer) allows(r *repository, s *source, dir string) bool {
	if s.test && (dir == s.dir || matches(everyTestMay, dir)) {
		return true
	}
	if s.test && strings.HasSuffix(s.syntax.Name.Name, "_test") {
		for pattern, may := range testsMay {
			if matches(pattern, s.dir) && slices.Contains(may, dir) {
				return true
			}
		}
	}
	for _, pattern := range l.may {
		if pattern == ownModule && s.module != nil && r.moduleOf(dir) == s.module || matches(pattern, dir) {
			return true
		}
	}
	return false
}
