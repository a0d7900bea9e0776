package train

import (
	"fmt"
	"math"
	"time"

	"iwda/experiments/measure"
	"iwda/experiments/store"
	"iwda/internal/system"
	"iwda/torch"
)

// machine describes what computes in a line: the GPU, processor, cores, system, and the
// instructions that libtorch and our convolutions use, by which sums round.
func machine(device torch.Device) string {
	text := measure.Machine()
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

// effort is the time and memory that a run takes, with those of former processes of it.
type effort struct {
	started    time.Time // earlier by the time that former processes took
	formerPeak int64     // bytes
}

func (e *effort) seconds() float64 { return time.Since(e.started).Seconds() }

// peak is the largest resident memory of any process of the run, in bytes.
func (e *effort) peak() int64 { return max(e.formerPeak, system.PeakMemory()) }

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
