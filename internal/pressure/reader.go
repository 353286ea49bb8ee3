package pressure

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"
)

// headroom is the part of the cgroup's hard limit that Go may use: other mappings of a
// process (code, C, threads' stacks) need room too.
const headroom = 0.95

// A Reader takes readings. It finds its files once, when it is made, and reads them
// each time, so that a limit may change. It is not safe for concurrent use.
type Reader struct {
	files    files
	memory   func() goMemory
	located  located
	pressure string // file with PSI; "": none
	stalls   stallWindow
	begun    bool   // whether limited is known
	limited  uint64 // of the last reading: goMemory.limited
	limit    int64  // of the last reading: the lower of GOMEMLIMIT and the cgroup's hard limit
}

// NewReader returns a Reader of the running program, on the system whose files are in
// root: / for a real one. If root is nil, it reads only the Go runtime.
func NewReader(root fs.FS) *Reader { return readerOf(root, newGoMetrics(nil).read) }

func readerOf(root fs.FS, memory func() goMemory) *Reader {
	r := &Reader{files: files{root: root}, memory: memory, located: locate(root)}
	for _, name := range r.located.pressure {
		if data, ok := r.files.read(name); ok {
			if _, ok := parseStalls(data); ok {
				r.pressure = name
				break
			}
		}
	}
	return r
}

// System returns the files of this system, or nil if it has none of those that a Reader
// uses.
func System() fs.FS {
	if runtime.GOOS == "linux" {
		return os.DirFS("/")
	}
	return nil
}

// Read takes a reading. offHeap is how many bytes the program has mapped that the Go
// runtime does not know of. The first reading says nothing about stalls and the
// collector: these cover the time since the last reading.
func (r *Reader) Read(offHeap int64, now time.Time) (reading Reading) {
	return r.readFiles(r.memory(), offHeap, now)
}

// readHigh is Read for callers that ask for the level alone. If the Go runtime is so near GOMEMLIMIT that the level
// is High whatever the files say, it does not read them. Opening a file allocates, and where the heap has reached
// the limit, what is allocated after a GC cycle begins the next one.
func (r *Reader) readHigh(offHeap int64, now time.Time) Reading {
	memory := r.memory()
	if memory.limit < Unlimited && r.begun {
		if use := share(float64(memory.used)+float64(offHeap), float64(memory.limit)); use >= highAt {
			r.limited = memory.limited
			return Reading{Go: use}
		}
	}
	return r.readFiles(memory, offHeap, now)
}

// readFiles completes a reading of the Go runtime by what the files say.
func (r *Reader) readFiles(memory goMemory, offHeap int64, now time.Time) (reading Reading) {
	hard, fullest := readGroups(&r.files, r.located.groups)
	r.limit, reading.Group = min(memory.limit, hard), fullest
	if limit := goLimit(memory.limit, hard); limit < Unlimited {
		reading.Go = share(float64(memory.used)+float64(offHeap), limit)
	}

	reading.GCLimited = r.begun && memory.limited > r.limited
	r.begun, r.limited = true, memory.limited

	data, _ := r.files.read(r.pressure)
	if totals, ok := parseStalls(data); ok {
		reading.Some, reading.Full = r.stalls.next(totals, now)
	} else {
		r.stalls = stallWindow{}
	}
	return reading
}

// goLimit returns how many bytes the Go runtime and the off-heap memory may use, given
// GOMEMLIMIT and the cgroup's hard limit; at least Unlimited for no limit.
func goLimit(memory, hard int64) float64 {
	if hard == Unlimited {
		return float64(memory)
	}
	return min(float64(memory), headroom*float64(hard))
}

// Allocators describes, for humans, the sources of a reading and the current limits: one
// line each for GOMEMLIMIT, the cgroup and PSI.
func (r *Reader) Sources() []string {
	lines := []string{"GOMEMLIMIT: " + limitText(r.memory().limit), "cgroup: none visible that limits this process", "PSI: none"}
	if l := r.located; l.version != 0 {
		hard, _ := readGroups(&r.files, l.groups)
		high := int64(Unlimited)
		for _, g := range l.groups {
			high = min(high, r.files.limit(g.high))
		}
		lines[1] = fmt.Sprintf("cgroup: version %d, /%s and %d above it; hard limit: %s; high: %s",
			l.version, l.dirs[0], len(l.dirs)-1, limitText(hard), limitText(high))
	}
	if r.pressure != "" {
		lines[2] = "PSI: /" + r.pressure
	}
	return lines
}

func limitText(bytes int64) string {
	if bytes == Unlimited {
		return "none"
	}
	return fmt.Sprint(bytes, " bytes")
}
