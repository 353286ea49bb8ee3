package measure

import (
	"os"

	"github.com/prometheus/procfs"
)

// PeakRSS returns the largest resident memory of this process so far, in bytes. It reads VmHWM
// because ru_maxrss would inherit the parent's peak through fork.
func PeakRSS() uint64 {
	p, err := procfs.Self()
	if err != nil {
		return 0
	}
	s, err := p.NewStatus()
	if err != nil {
		return 0
	}
	return s.VmHWM
}

// RSS returns the resident memory of this process, in bytes.
func RSS() uint64 {
	p, err := procfs.Self()
	if err != nil {
		return 0
	}
	s, err := p.Statm()
	if err != nil {
		return 0
	}
	return s.Resident * uint64(os.Getpagesize())
}

func machine() string {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return unknown
	}
	cpus, err := fs.CPUInfo()
	if err != nil || len(cpus) == 0 || cpus[0].ModelName == "" {
		return unknown
	}
	return cpus[0].ModelName
}

func loadAverage() [3]float64 {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return noLoad
	}
	l, err := fs.LoadAvg()
	if err != nil {
		return noLoad
	}
	return [3]float64{l.Load1, l.Load5, l.Load15}
}
