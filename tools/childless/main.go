//go:build linux

// Command childless runs a program that can start no other:
//
//	go build -o /tmp/childless ./childless
//	go test -short -exec /tmp/childless ./...
//
// The kernel refuses execve to it, with "operation not permitted", so a test that starts a
// process fails.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: childless PROGRAM [ARGUMENT...]")
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "childless:", run(os.Args[1:]))
	os.Exit(2)
}

// run becomes the program, and returns only if it cannot.
func run(command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	program, err := unix.Open(path, unix.O_PATH, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	runtime.LockOSThread() // the filter is the thread's, and so the new program's
	if err := refuseExecve(); err != nil {
		return fmt.Errorf("the kernel takes no filter of system calls: %w", err)
	}
	return fmt.Errorf("%s: %w", path, execveat(program, command, os.Environ()))
}

// refuseExecve has the kernel refuse execve, by which every program of Go's is started.
// execveat is left for ours.
func refuseExecve() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_EXECVE, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// execveat becomes the program that is open.
func execveat(program int, arguments, environment []string) error {
	argv, err := syscall.SlicePtrFromStrings(arguments)
	if err != nil {
		return err
	}
	envp, err := syscall.SlicePtrFromStrings(environment)
	if err != nil {
		return err
	}
	none, _ := syscall.BytePtrFromString("")
	_, _, code := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(program), uintptr(unsafe.Pointer(none)),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envp[0])), unix.AT_EMPTY_PATH, 0)
	return code
}
