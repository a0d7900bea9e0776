package system

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Apart starts a command in a group of its own: Ctrl-C does not reach it. No file is inherited.
func Apart(command *exec.Cmd, _ ...*os.File) {
	command.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// Stop asks a process to stop, which reads its standard input to the end: there are no signals.
func Stop(_ *os.Process, input io.Closer) { input.Close() }

var getMemory = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")

// PeakMemory is the largest resident memory that this process has had, in bytes.
func PeakMemory() int64 {
	usage := struct {
		size, faults uint32
		peak         uintptr
		others       [7]uintptr
	}{}
	usage.size = uint32(unsafe.Sizeof(usage))
	if done, _, _ := getMemory.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&usage)), uintptr(usage.size)); done == 0 {
		return 0
	}
	return int64(usage.peak)
}

// Program is the path of this program.
func Program() (string, error) { return os.Executable() }
