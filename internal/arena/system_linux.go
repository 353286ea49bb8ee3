package arena

import (
	"math/bits"
	"syscall"
)

// These values are advice that package syscall does not name, or not for all
// processors; the numbers are the same for all. guardInstall fails with EINVAL before
// Linux 6.13. dontDump has the effect that setApart needs as a side effect: pages that
// a core dump leaves out do not share a mapping with others, and these pages hold no
// data.
const (
	dontDump     = 16
	doDump       = 17
	guardInstall = 102
	guardRemove  = 103
)

// platform returns Linux's calls. A range without access is not charged to the process,
// nor is one that is only readable; mprotect charges what it opens, so it is the call
// that a system without overcommit refuses.
func platform() system {
	s := system{
		reserve:   func(bytes int) ([]byte, error) { return reserve(bytes, syscall.PROT_NONE) },
		table:     func(bytes int) ([]byte, error) { return reserve(bytes, syscall.PROT_READ) },
		dropTable: syscall.Munmap,
		open:      func(part []byte) error { return syscall.Mprotect(part, syscall.PROT_READ|syscall.PROT_WRITE) },
		decommit:  func(part []byte) error { return syscall.Madvise(part, syscall.MADV_DONTNEED) },
		unmap:     syscall.Munmap,
		mark:      func(part []byte) error { return syscall.Madvise(part, guardInstall) },
		unmark:    func(part []byte) error { return syscall.Madvise(part, guardRemove) },
		hide:      func(part []byte) error { return syscall.Mprotect(part, syscall.PROT_NONE) },
		setApart:  func(part []byte) error { return syscall.Madvise(part, dontDump) },
		join:      func(part []byte) error { return syscall.Madvise(part, doDump) },
	}
	if bits.UintSize == 32 {
		// There are too few addresses to leave some mapped until the collector runs.
		s.table = nil
	}
	return s
}

func reserve(bytes, access int) ([]byte, error) {
	return syscall.Mmap(-1, 0, bytes, access, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
}
