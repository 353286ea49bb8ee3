package arena

import "syscall"

// platform is Linux's calls. A range without access is not charged to anybody;
// mprotect charges what it opens, and so is where a strict system refuses.
func platform() system {
	return system{
		reserve: func(bytes int) ([]byte, error) {
			return syscall.Mmap(-1, 0, bytes, syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
		},
		open:     func(part []byte) error { return syscall.Mprotect(part, syscall.PROT_READ|syscall.PROT_WRITE) },
		decommit: func(part []byte) error { return syscall.Madvise(part, syscall.MADV_DONTNEED) },
		unmap:    syscall.Munmap,
	}
}
