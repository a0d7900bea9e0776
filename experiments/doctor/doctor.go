// Package doctor says what runs are made with on this machine, versions, devices, threads and
// libraries, and what is wrong with that.
package doctor

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"iwda/experiments/engine"
	"iwda/experiments/schedule"
	"iwda/internal/version"
)

// Facts are what the doctor knows.
type Facts struct {
	engine.Facts
	Missing    error // why there are no Facts of iwrun-torch; nil where they are
	Device     string
	Jobs       int
	Threads    int
	Driver     bool   // an NVIDIA driver is loaded
	Usable     int    // cores that the process may use
	Logical    int    // cores that the system has, as it counts them
	Physical   int    // without the second threads of a core; 0: not known
	OMPThreads string // the variable of the environment
}

// Examine returns what is found beside what iwrun-torch says; how many runs are made at a time, on which devices, is
// for the caller to fill in.
func Examine() Facts {
	return Facts{
		Driver:     HasDriver(),
		Usable:     runtime.GOMAXPROCS(0),
		Logical:    runtime.NumCPU(),
		Physical:   schedule.PhysicalCores(),
		OMPThreads: os.Getenv("OMP_NUM_THREADS"),
	}
}

// HasDriver reports whether there is an NVIDIA driver, without which libtorch finds no GPU: of Linux itself,
// of a Jetson, or of Windows below it. Of other systems it reports true, as nothing is known.
func HasDriver() bool {
	if runtime.GOOS != "linux" {
		return true
	}
	return slices.ContainsFunc([]string{"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/nvhost-gpu", "/dev/dxg"}, func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

// Print writes the facts, a line each, and then what is wrong.
func (f Facts) Print(w io.Writer) {
	line := func(name, format string, values ...any) {
		fmt.Fprintf(w, "%-12s%s\n", name, fmt.Sprintf(format, values...))
	}
	const unknown = "(not known)"
	physical := unknown
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
		line("libtorch", "%s in %s", f.Torch, cmp.Or(f.library("libtorch_cpu."), unknown))
		line("BLAS", "%s", cmp.Or(f.products(), unknown))
		line("kernels", "%s; convolutions of small networks: %s", cmp.Or(f.Instructions, unknown), cmp.Or(f.Convolutions, "generic"))
		line("allocator", "%s", cmp.Or(f.library("libjemalloc", "libtcmalloc", "libmimalloc", "libc.so", "libc.musl", "ld-musl"), unknown))
		fmt.Fprintf(w, "\n%s\n\n", strings.TrimSpace(f.Parallel))
	}
	for _, warning := range f.warnings() {
		fmt.Fprintln(w, "warning:", warning)
	}
}

// warnings returns what is wrong, a sentence each.
func (f Facts) warnings() []string {
	var list []string
	warn := func(format string, values ...any) { list = append(list, fmt.Sprintf(format, values...)) }
	cores := f.Usable
	if f.Physical > 0 {
		cores = min(cores, f.Physical)
	}
	if wanted := f.Jobs * f.Threads; wanted > cores {
		warn("%d runs with %d threads each need %d cores, but there are %d: they slow each other down", f.Jobs, f.Threads, wanted, cores)
	}
	if set, err := strconv.Atoi(f.OMPThreads); err == nil && set != f.Threads {
		warn("OMP_NUM_THREADS is %d; runs ignore it and use --threads, here %d", set, f.Threads)
	}
	if f.Missing != nil {
		warn("there is no libtorch: %v", f.Missing)
	} else if f.Driver && len(f.CUDADevices) == 0 {
		warn("there is an NVIDIA driver, but this libtorch cannot use it: build against one with CUDA (LIBTORCH=… make build)")
	}
	if strings.Contains(f.products(), "/blas/libblas.") {
		warn("matrix products use the reference BLAS, which is several times slower than others: install OpenBLAS (Debian: libopenblas0-pthread)")
	}
	return list
}

// library returns the path of the first loaded library whose name begins with the first prefix
// that any does, and "" if there is none.
func (f Facts) library(prefixes ...string) string {
	for _, prefix := range prefixes {
		for _, path := range f.Libraries {
			if strings.HasPrefix(filepath.Base(path), prefix) {
				return path
			}
		}
	}
	return ""
}

// products returns the path of the library that multiplies matrices of float32.
func (f Facts) products() string {
	if f.OneDNN {
		return f.library("libdnnl.")
	}
	return f.library("libmkl_core", "libmkl_rt", "libopenblas", "libblis", "libblas.")
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
