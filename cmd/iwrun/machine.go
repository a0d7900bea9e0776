package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/urfave/cli/v2"

	"iwda/torch"
)

// machineOptions say what of the machine is used.
type machineOptions struct {
	Device  string
	Jobs    int // 0: as many as there are cores for
	Threads int
}

func machineFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, DefaultText: "1 on a GPU, else the number of cores divided by threads", Usage: "`NUMBER` of runs at a time"},
		&cli.StringFlag{Name: "device", Value: "auto", Usage: "`DEVICE`: cpu, cuda, cuda:N, or auto for a GPU where there is one"},
		&cli.IntFlag{Name: "threads", Value: 1, Usage: "`NUMBER` of threads of one run; results are the same bits on every machine only for the same number"},
	}
}

func machineOptionsOf(c *cli.Context) machineOptions {
	return machineOptions{Device: c.String("device"), Jobs: c.Int("jobs"), Threads: c.Int("threads")}
}

// device returns the device that the option names.
func (o machineOptions) device() (torch.Device, error) {
	device, err := torch.ParseDevice(o.Device)
	if err != nil {
		return torch.Device{}, usageError{fmt.Sprintf("--device %s: %v", o.Device, err), "iwrun --device auto|cpu|cuda|cuda:N …"}
	}
	return device, nil
}

// share returns the number of runs at a time and of threads each.
func (o machineOptions) share(device torch.Device) (jobs, threads int, err error) {
	usage := "iwrun -j NUMBER --threads NUMBER …"
	switch {
	case o.Jobs < 0:
		return 0, 0, usageError{fmt.Sprintf("-j %d: at least one run at a time", o.Jobs), usage}
	case o.Threads < 1:
		return 0, 0, usageError{fmt.Sprintf("--threads %d: a run needs at least one thread", o.Threads), usage}
	case o.Jobs > 0:
		return o.Jobs, o.Threads, nil
	case device.IsCUDA():
		return 1, o.Threads, nil
	}
	return max(1, cores()/o.Threads), o.Threads, nil
}

// cores returns the number of cores that this process may use: of the machine's
// physical cores, what its affinity and control group allow.
func cores() int {
	usable := runtime.GOMAXPROCS(0)
	if physical := physicalCores(); physical > 0 {
		return min(usable, physical)
	}
	return usable
}

// physicalCores returns the number of cores, of which each may run several threads
// of hardware, and 0 where the system does not tell.
func physicalCores() int {
	paths, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list")
	siblings := map[string]bool{}
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			siblings[string(text)] = true
		}
	}
	return len(siblings)
}
