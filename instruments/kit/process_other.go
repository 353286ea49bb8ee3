//go:build !linux

package kit

import "time"

// PeakRSS returns 0: it is not measured on this system.
func PeakRSS() uint64 { return 0 }

// RSS returns 0: it is not measured on this system.
func RSS() uint64 { return 0 }

// CPUTime returns 0: it is not measured on this system.
func CPUTime() time.Duration { return 0 }

// OpenFiles returns 0: it is not measured on this system.
func OpenFiles() uint64 { return 0 }

func machine() string { return unknown }

func loadAverage() [3]float64 { return noLoad }
