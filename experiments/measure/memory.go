package measure

import "syscall"

// PeakMemory is the largest resident memory that this process has had, in bytes.
func PeakMemory() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return usage.Maxrss << 10 // Linux counts in KiB
}
