//go:build unix

package programs

import (
	"os/exec"
	"syscall"
)

// inGroup has the command's end be that of what it has started, too: the Go tool's compilers go on for
// minutes without it.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
