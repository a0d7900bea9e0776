package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/engine"
	"iwda/experiments/schedule"
	"iwda/internal/version"
)

func newDoctorCommand(s streams) *cli.Command {
	var o workOptions
	return &cli.Command{
		Name:      "doctor",
		Usage:     "print versions, devices and threads, and what is wrong with them",
		UsageText: "iwrun doctor [FLAGS]",
		Description: `You can add -j, --device and other flags of a command that trains: doctor says what they mean on this machine.

Examples:
  iwrun doctor
  iwrun doctor --device cuda:0 -j 2`,
		Flags: o.machineFlags(),
		Action: withoutArguments(func(*cli.Context) error {
			var f facts
			if f.Missing = s.ask(engine.GetFacts, nil, &f.Facts); f.Missing == nil {
				if err := o.devices(true, s); err != nil {
					return err
				}
			}
			f.Device, f.Jobs, f.Threads = strings.Join(o.Schedule.Devices, ", "), o.Schedule.AtOnce(), o.Schedule.Threads
			f.Driver, f.Cores = hasDriver(), schedule.Cores()
			f.print(s.out)
			return nil
		}),
	}
}

// facts are what the doctor knows: what runs are made with on this machine.
type facts struct {
	engine.Facts
	Missing error // why there are no Facts of iwrun-torch; nil where they are
	Device  string
	Jobs    int
	Threads int
	Driver  bool // an NVIDIA driver is loaded
	Cores   int  // that the process may use
}

// hasDriver reports whether there is an NVIDIA driver, without which libtorch finds no GPU: of Linux itself,
// of a Jetson, or of Windows below it. Of other systems it reports true, as nothing is known.
func hasDriver() bool {
	if runtime.GOOS != "linux" {
		return true
	}
	return slices.ContainsFunc([]string{"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/nvhost-gpu", "/dev/dxg"}, func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

// print writes the facts, a line each, and then what is wrong with them.
func (f facts) print(w io.Writer) {
	line := func(name, format string, values ...any) {
		fmt.Fprintf(w, "%-12s%s\n", name, fmt.Sprintf(format, values...))
	}
	line("iwrun", "%s", version.Version)
	line("go", "%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	line("device", "%s; CUDA devices: %d %q", f.Device, len(f.CUDADevices), f.CUDADevices)
	line("runs", "%d at a time, threads of each: %d, cores: %d", f.Jobs, f.Threads, f.Cores)
	if f.Missing == nil {
		products := "BLAS"
		if f.OneDNN {
			products = "oneDNN"
		}
		line("libtorch", "%s, with products of matrices by %s", f.Torch, products)
	}
	warn := func(format string, values ...any) { fmt.Fprintf(w, "warning: "+format+"\n", values...) }
	if wanted := f.Jobs * f.Threads; wanted > f.Cores {
		warn("%d runs with %d threads each need %d cores, but there are %d: they slow each other down", f.Jobs, f.Threads, wanted, f.Cores)
	}
	if f.Missing != nil {
		warn("there is no libtorch: %v", f.Missing)
	} else if f.Driver && len(f.CUDADevices) == 0 {
		warn("there is an NVIDIA driver, but this libtorch cannot use it: build against one with CUDA (LIBTORCH=… make build)")
	}
}
