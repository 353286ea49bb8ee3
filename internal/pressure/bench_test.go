package pressure

import (
	"os"
	"testing"
	"time"
)

// A reading of this system: all that it has.
func BenchmarkRead(b *testing.B) {
	r := NewReader(System())
	b.ReportAllocs()
	for b.Loop() {
		r.Read(0, time.Now())
	}
}

// What is left where there is neither a cgroup nor PSI.
func BenchmarkReadGoOnly(b *testing.B) {
	r := NewReader(nil)
	b.ReportAllocs()
	for b.Loop() {
		r.Read(0, time.Now())
	}
}

// Making a Reader: once in a program.
func BenchmarkNewReader(b *testing.B) {
	for b.Loop() {
		NewReader(System())
	}
}

// An answer that needs no reading.
func BenchmarkMonitorBetweenReadings(b *testing.B) {
	m := &Monitor{read: time.Now().Add(time.Hour)}
	for b.Loop() {
		m.Level(0)
	}
}

// The argument for opening files each time: what it costs beside reading one that
// is kept open.
func BenchmarkOpened(b *testing.B) {
	name := benchmarkFile(b)
	f := &files{root: System()}
	b.ReportAllocs()
	for b.Loop() {
		f.read(name)
	}
}

func BenchmarkKeptOpen(b *testing.B) {
	file, err := System().Open(benchmarkFile(b))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	var buffer [maxFile]byte
	b.ReportAllocs()
	for b.Loop() {
		file.(*os.File).ReadAt(buffer[:], 0)
	}
}

func benchmarkFile(b *testing.B) string {
	if System() != nil {
		if l := locate(System()); len(l.groups) > 0 {
			return l.groups[0].max
		}
	}
	b.Skip("no cgroup")
	return ""
}
