package train

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// machine describes the computer in a line: processor, cores, system.
func machine() string {
	return fmt.Sprintf("%s, %d cores, %s/%s", processor("/proc/cpuinfo"), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
}

// processor is the model name in a file like /proc/cpuinfo.
func processor(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return "unknown processor"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// peakMemory is the largest resident memory that this process has had, in bytes.
func peakMemory() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return usage.Maxrss << 10 // Linux counts in KiB
}
