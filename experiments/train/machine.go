package train

import (
	"bufio"
	"fmt"
	"math"
	"runtime"
	"strings"
	"syscall"
	"time"

	"iwda/experiments/store"
	"iwda/internal/input"
	"iwda/internal/version"
	"iwda/torch"
)

// versions are those of the programs that make a run.
func versions() map[string]string {
	return map[string]string{"iwda": version.Version, "go": runtime.Version(), "libtorch": torch.Version()}
}

// machine describes what computes in a line: the GPU, processor, cores, system, and the
// instructions that libtorch and our convolutions use, by which sums round.
func machine(device torch.Device) string {
	text := fmt.Sprintf("%s, %d cores, %s/%s", processor("/proc/cpuinfo"), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	if gpu := device.Name(); gpu != "" {
		text = gpu + ", " + text
	}
	if set := torch.InstructionSet(); set != "" {
		text += ", " + set
	}
	if set := torch.ConvolutionInstructions(); set != "" {
		text += ", convolutions " + set
	}
	return text
}

// processor is the model name in a file like /proc/cpuinfo.
func processor(path string) string {
	file, err := input.Open(path)
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

// effort is the time and memory that a run takes, with those of former processes of it.
type effort struct {
	started    time.Time // earlier by the time that former processes took
	formerPeak int64     // bytes
}

func (e *effort) seconds() float64 { return time.Since(e.started).Seconds() }

// peak is the largest resident memory of any process of the run, in bytes.
func (e *effort) peak() int64 { return max(e.formerPeak, peakMemory()) }

func (e *effort) conclude(r *store.Result) { r.Seconds, r.PeakMemoryBytes = e.seconds(), e.peak() }

func (e *effort) save(s *saving) { s.Seconds, s.PeakMemory = e.seconds(), e.peak() }

func (e *effort) restore(r *restoring) error {
	if !(r.Seconds >= 0 && r.Seconds < math.MaxInt32) {
		return fmt.Errorf("it took %v seconds", r.Seconds)
	}
	e.started = e.started.Add(-time.Duration(r.Seconds * float64(time.Second)))
	e.formerPeak = r.PeakMemory
	return nil
}

// peakMemory is the largest resident memory that this process has had, in bytes.
func peakMemory() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return usage.Maxrss << 10 // Linux counts in KiB
}
