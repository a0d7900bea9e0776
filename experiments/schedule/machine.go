package schedule

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/internal/input"
	"iwda/internal/wholefile"
)

// AtOnce returns the number of runs at a time: Jobs, or what the devices have room for.
func (o Options) AtOnce() int {
	switch {
	case o.Jobs > 0:
		return o.Jobs
	case slices.ContainsFunc(o.Devices, func(name string) bool { return strings.HasPrefix(name, "cuda") }):
		return len(o.Devices)
	}
	return max(1, Cores()/o.Threads)
}

// Cores returns the number of cores that this process may use: of the machine's
// physical cores, each of which may run several threads of hardware, where the system tells
// them, what its affinity and control group allow.
func Cores() int {
	siblings := map[string]bool{}
	paths, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list")
	for _, path := range paths {
		if text, err := input.Read(path, input.Words); err == nil {
			siblings[string(text)] = true
		}
	}
	if len(siblings) == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return min(runtime.GOMAXPROCS(0), len(siblings))
}

// CheckResults returns an error if the folder of results cannot be written although a
// run is not finished yet.
func CheckResults(runs []plan.Run, results string) error {
	if len(plan.Finished(runs, results)) == len(runs) {
		return nil
	}
	if err := tryWriting(results); err != nil {
		return config.Error{Location: "-o " + results, Message: "nothing can be written there: " + err.Error()}
	}
	return nil
}

// tryWriting makes and removes a file in a folder, which is created if need be.
func tryWriting(folder string) error {
	if err := new(wholefile.Disk).MakeFolder(folder); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, ".try-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
