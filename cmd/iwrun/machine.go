package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/torch"
)

// machineOptions say what of the machine is used.
type machineOptions struct {
	Device  string
	Jobs    int // 0: as many as there are cores for
	Threads int
	// PerProcess is how many of the runs at a time one process makes.
	PerProcess int
}

func machineFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, DefaultText: "one a GPU, or as many as share a process, else the number of cores divided by threads", Usage: "`NUMBER` of runs at a time"},
		&cli.StringFlag{Name: "device", Value: "auto", Usage: "`DEVICE`: cpu, cuda:N, several as in cuda:0,cuda:1, which share the runs, or auto for all GPUs, the CPU where there is none"},
		&cli.IntFlag{Name: perProcessName, Value: 1, Usage: "`NUMBER` of the runs at a time that share a process: on a GPU they then compute at the same moment, where processes take turns"},
		&cli.IntFlag{Name: "threads", Value: 1, Usage: "`NUMBER` of threads of one run; results are the same bits on every machine only for the same number"},
	}
}

// deviceFlags are the machine's flags of a command that trains nothing.
func deviceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "device", Value: "auto", Usage: "`DEVICE`: cpu, cuda:N, or auto for a GPU, the CPU where there is none"},
		&cli.IntFlag{Name: "threads", Value: 1, Usage: "`NUMBER` of threads"},
	}
}

func machineOptionsOf(c *cli.Context) machineOptions {
	return machineOptions{Device: c.String("device"), Jobs: c.Int("jobs"), Threads: c.Int("threads"), PerProcess: c.Int(perProcessName)}
}

const perProcessName = "per-process"

// device returns the one device that the option names, or the first of auto.
func (o machineOptions) device() (torch.Device, error) {
	device, err := torch.ParseDevice(o.Device)
	if err != nil {
		return torch.Device{}, usageError(fmt.Sprintf("--device %s: %v", o.Device, err), "iwrun --device auto|cpu|cuda|cuda:N …")
	}
	return device, nil
}

// devices returns those that the option names, of which there is at least one. auto
// names all GPUs.
func (o machineOptions) devices() ([]torch.Device, error) {
	if gpus := torch.CUDADevices(); o.Device == "auto" && gpus > 0 {
		return allGPUs(gpus), nil
	}
	var devices []torch.Device
	for name := range strings.SplitSeq(o.Device, ",") {
		device, err := machineOptions{Device: strings.TrimSpace(name)}.device()
		if err != nil {
			return nil, err
		}
		if slices.Contains(devices, device) {
			return nil, usageError(
				fmt.Sprintf("--device %s: %v is named twice; -j says how many runs share the devices", o.Device, device),
				"iwrun --device cuda:0,cuda:1 -j NUMBER …",
			)
		}
		devices = append(devices, device)
	}
	return devices, nil
}

func allGPUs(number int) []torch.Device {
	devices := make([]torch.Device, number)
	for i := range devices {
		devices[i] = torch.CUDA(i)
	}
	return devices
}

func deviceNames(devices []torch.Device) []string {
	names := make([]string, len(devices))
	for i, device := range devices {
		names[i] = device.String()
	}
	return names
}

// share returns the number of runs at a time on the devices and of threads each.
func (o machineOptions) share(devices []torch.Device) (jobs, threads int, err error) {
	usage := "iwrun -j NUMBER --threads NUMBER --" + perProcessName + " NUMBER …"
	switch {
	case o.PerProcess < 1:
		return 0, 0, usageError(fmt.Sprintf("--%s %d: a process makes at least one run", perProcessName, o.PerProcess), usage)
	case o.Jobs < 0:
		return 0, 0, usageError(fmt.Sprintf("-j %d: at least one run at a time", o.Jobs), usage)
	case o.Threads < 1:
		return 0, 0, usageError(fmt.Sprintf("--threads %d: a run needs at least one thread", o.Threads), usage)
	case o.Jobs > 0:
		return o.Jobs, o.Threads, nil
	case slices.ContainsFunc(devices, torch.Device.IsCUDA):
		return len(devices) * o.PerProcess, o.Threads, nil
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
