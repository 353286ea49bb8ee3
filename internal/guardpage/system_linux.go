package guardpage

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"syscall"
	"unsafe"
)

// thisSystem returns the system that the process runs on, and why it is not known well enough, or "".
func thisSystem() (s system, why string) {
	return system{
		pageSize: os.Getpagesize(), giveBack: giveBack, resident: resident, touches: touches, unasked: unasked,
		keepSmall: func(pages []byte) error { return syscall.Madvise(pages, syscall.MADV_NOHUGEPAGE) },
		hide:      func(pages []byte) error { return syscall.Mprotect(pages, syscall.PROT_NONE) },
		open: func(pages []byte) error {
			return syscall.Mprotect(pages, syscall.PROT_READ|syscall.PROT_WRITE) // as the Go heap is
		},
		live: live,
	}, ""
}

func live() uint64 {
	sample := [1]metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(sample[:]); sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

func giveBack(pages []byte) error { return syscall.Madvise(pages, syscall.MADV_DONTNEED) }

func resident(pages []byte) (each []bool, err error) {
	raw := make([]byte, len(pages)/os.Getpagesize())
	_, _, e := syscall.Syscall(syscall.SYS_MINCORE,
		uintptr(unsafe.Pointer(unsafe.SliceData(pages))), uintptr(len(pages)), uintptr(unsafe.Pointer(unsafe.SliceData(raw))))
	if e != 0 {
		return nil, e
	}
	each = make([]bool, len(raw))
	for i, b := range raw {
		each[i] = b&1 != 0
	}
	return each, nil
}

const hugePages = "/sys/kernel/mm/transparent_hugepage"

// touches names a debugger that is attached, which may read what it likes.
func touches() (who string) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "who traces the process cannot be read: " + err.Error()
	}
	if traced(status) {
		return "a tracer is attached"
	}
	return ""
}

// unasked reports whether the kernel makes huge pages of small ones unasked.
func unasked() bool {
	files, _ := filepath.Glob(hugePages + "/hugepages-*/enabled")
	for _, name := range append(files, hugePages+"/enabled") {
		if text, err := os.ReadFile(name); err == nil && always(string(text)) {
			return true
		}
	}
	return false
}

// traced reports whether /proc/self/status names a tracer.
func traced(status []byte) bool {
	_, rest, found := bytes.Cut(status, []byte("TracerPid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return found && string(bytes.TrimSpace(line)) != "0"
}

// always reports whether a setting of several, of which the one in brackets is in force, is that.
func always(setting string) bool { return strings.Contains(setting, "[always]") }
