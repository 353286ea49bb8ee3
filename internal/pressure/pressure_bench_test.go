package pressure

import (
	"os"
	"testing"
	"time"
)

// BenchmarkRead takes a full reading of this system.
func BenchmarkRead(b *testing.B) {
	r := NewReader(System())
	b.ReportAllocs()
	for b.Loop() {
		r.Read(0, time.Now())
	}
}

// BenchmarkReadGoOnly takes a reading without a cgroup and PSI.
func BenchmarkReadGoOnly(b *testing.B) {
	r := NewReader(nil)
	b.ReportAllocs()
	for b.Loop() {
		r.Read(0, time.Now())
	}
}

// BenchmarkNewReader makes a Reader, which a program does once.
func BenchmarkNewReader(b *testing.B) {
	for b.Loop() {
		NewReader(System())
	}
}

// BenchmarkMonitorBetweenReadings times a Level that needs no reading.
func BenchmarkMonitorBetweenReadings(b *testing.B) {
	m := &Monitor{read: time.Now().Add(time.Hour)}
	for b.Loop() {
		m.Level(0)
	}
}

// BenchmarkOpened and BenchmarkKeptOpen compare opening a file each time with reading
// one that is kept open.
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
