//go:build unix

package system

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

// Apart starts a command in a group of its own: Ctrl-C does not reach it. It inherits the files, and their locks with them.
func Apart(command *exec.Cmd, inherited ...*os.File) {
	command.SysProcAttr, command.ExtraFiles = &syscall.SysProcAttr{Setpgid: true}, inherited
}

// Stop asks a process to stop, which reads its standard input to the end.
func Stop(process *os.Process, _ io.Closer) { process.Signal(syscall.SIGTERM) }

// PeakMemory is the largest resident memory that this process has had, in bytes.
func PeakMemory() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return usage.Maxrss
	}
	return usage.Maxrss << 10 // Linux counts in KiB
}

// Program is the path of this program. Where there is no /proc, as in a bare chroot, it is the one by which it was started.
func Program() (string, error) {
	path, err := os.Executable()
	if err == nil {
		return path, nil
	}
	if path, err = exec.LookPath(os.Args[0]); err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
