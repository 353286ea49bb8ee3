package arena

import (
	"math/bits"
	"syscall"
)

// Advice that package syscall does not name, or not for all processors; the numbers are
// the same for all. guardInstall is EINVAL before Linux 6.13. dontDump does what setApart
// wants by the way: pages that a core dump leaves out are no mapping with others, and
// nothing is in these.
const (
	dontDump     = 16
	doDump       = 17
	guardInstall = 102
	guardRemove  = 103
)

// platform is Linux's calls. A range without access is not charged to anybody, nor is
// one that can only be read; mprotect charges what it opens, and so is where a strict
// system refuses.
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
		// Addresses are too few to leave some to the collector's leisure.
		s.table = nil
	}
	return s
}

func reserve(bytes, access int) ([]byte, error) {
	return syscall.Mmap(-1, 0, bytes, access, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
}
