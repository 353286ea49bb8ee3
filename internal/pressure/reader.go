package pressure

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"
)

// headroom is the part of the cgroup's hard limit that Go may have: what else a
// process maps (code, C, threads' stacks) needs room too.
const headroom = 0.95

// A Reader takes readings. It finds its files once, when it is made, and reads
// them each time, so that a limit may change. It is not safe for concurrent use.
type Reader struct {
	files    files
	memory   func() goMemory
	located  located
	pressure string // file with PSI; "": none
	stalls   stallWindow
	begun    bool   // whether limited is known
	limited  uint64 // of the last reading: goMemory.limited
}

// NewReader returns a Reader of the running program, on the system whose files
// root has: / for a real one. With nil, only the Go runtime is asked.
func NewReader(root fs.FS) *Reader { return newReader(root, newGoMetrics(nil).read) }

func newReader(root fs.FS, memory func() goMemory) *Reader {
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

// System returns the files of this system, or nil where it has none of those that
// a Reader knows.
func System() fs.FS {
	if runtime.GOOS == "linux" {
		return os.DirFS("/")
	}
	return nil
}

// Read takes a reading. offHeap is how many bytes the program has mapped that the
// Go runtime does not know of. The first reading says nothing of stalls and of the
// collector: these are of the time since the last one.
func (r *Reader) Read(offHeap int64, now time.Time) (reading Reading) {
	memory := r.memory()
	hard, fullest := readGroups(&r.files, r.located.groups)
	reading.Group = fullest
	if limit := goLimit(memory.limit, hard); limit < unlimited {
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

// goLimit returns how many bytes the Go runtime and the off-heap memory may have,
// of GOMEMLIMIT and the cgroup's hard limit; at least unlimited for no limit.
func goLimit(memory, hard int64) float64 {
	if hard == unlimited {
		return float64(memory)
	}
	return min(float64(memory), headroom*float64(hard))
}

// Sources says, for humans, what a reading comes from and which limits there are
// now: one line each for GOMEMLIMIT, the cgroup and PSI.
func (r *Reader) Sources() []string {
	lines := []string{"GOMEMLIMIT: " + limitText(r.memory().limit), "cgroup: none that limits this process can be seen", "PSI: none"}
	if l := r.located; l.version != 0 {
		hard, _ := readGroups(&r.files, l.groups)
		high := int64(unlimited)
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
	if bytes == unlimited {
		return "none"
	}
	return fmt.Sprint(bytes, " bytes")
}
