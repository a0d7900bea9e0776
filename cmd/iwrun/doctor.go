package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
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
			found := examine()
			if found.Missing = s.ask(engine.GetFacts, nil, &found.Facts); found.Missing == nil {
				if err := o.devices(true, s); err != nil {
					return err
				}
			}
			found.Device, found.Jobs, found.Threads = strings.Join(o.Schedule.Devices, ", "), o.Schedule.AtOnce(), o.Schedule.Threads
			found.print(s.out)
			return nil
		}),
	}
}

// facts are what the doctor knows: what runs are made with on this machine, and what is wrong with that.
type facts struct {
	engine.Facts
	Missing  error // why there are no Facts of iwrun-torch; nil where they are
	Device   string
	Jobs     int
	Threads  int
	Driver   bool // an NVIDIA driver is loaded
	Usable   int  // cores that the process may use
	Logical  int  // cores that the system has, as it counts them
	Physical int  // without the second threads of a core; 0: not known
}

// examine returns what is found beside what iwrun-torch says; how many runs are made at a time, on which devices, is
// for the caller to fill in.
func examine() facts {
	return facts{
		Driver:   hasDriver(),
		Usable:   runtime.GOMAXPROCS(0),
		Logical:  runtime.NumCPU(),
		Physical: schedule.PhysicalCores(),
	}
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

// print writes the facts, a line each, and then what is wrong.
func (f facts) print(w io.Writer) {
	line := func(name, format string, values ...any) {
		fmt.Fprintf(w, "%-12s%s\n", name, fmt.Sprintf(format, values...))
	}
	physical := "(not known)"
	if f.Physical > 0 {
		physical = strconv.Itoa(f.Physical)
	}
	models := ""
	if len(f.CUDADevices) > 0 {
		models = " (" + strings.Join(f.CUDADevices, ", ") + ")"
	}
	line("iwrun", "%s%s", version.Version, revision())
	line("go", "%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	line("device", "%s; CUDA devices: %d%s", f.Device, len(f.CUDADevices), models)
	line("cores", "%d usable, %d in the system, %s physical", f.Usable, f.Logical, physical)
	line("runs", "%d at a time, threads of each: %d", f.Jobs, f.Threads)
	if f.Missing == nil {
		products := "BLAS"
		if f.OneDNN {
			products = "oneDNN"
		}
		line("libtorch", "%s, with products of matrices by %s", f.Torch, products)
		fmt.Fprintf(w, "\n%s\n\n", strings.TrimSpace(f.Parallel))
	}
	for _, warning := range f.warnings() {
		fmt.Fprintln(w, "warning:", warning)
	}
}

// warnings returns what is wrong, a sentence each.
func (f facts) warnings() []string {
	var list []string
	warn := func(format string, values ...any) { list = append(list, fmt.Sprintf(format, values...)) }
	cores := f.Usable
	if f.Physical > 0 {
		cores = min(cores, f.Physical)
	}
	if wanted := f.Jobs * f.Threads; wanted > cores {
		warn("%d runs with %d threads each need %d cores, but there are %d: they slow each other down", f.Jobs, f.Threads, wanted, cores)
	}
	if f.Missing != nil {
		warn("there is no libtorch: %v", f.Missing)
	} else if f.Driver && len(f.CUDADevices) == 0 {
		warn("there is an NVIDIA driver, but this libtorch cannot use it: build against one with CUDA (LIBTORCH=… make build)")
	}
	return list
}

// revision returns the revision of the source that the program was built from, in
// brackets, where that is known.
func revision() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return " (" + setting.Value[:min(12, len(setting.Value))] + ")"
		}
	}
	return ""
}
