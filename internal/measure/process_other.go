//go:build !linux

package measure

// PeakRSS is not measured here: 0.
func PeakRSS() uint64 { return 0 }

// RSS is not measured here: 0.
func RSS() uint64 { return 0 }

func machine() string { return unknown }

func loadAverage() [3]float64 { return noLoad }
