package schedule

import (
	"strings"
	"testing"

	"iwda/experiments/plan"
)

func TestAtOnce(t *testing.T) {
	cpu, gpu, gpus := []string{"cpu"}, []string{"cuda:0"}, []string{"cuda:0", "cuda:1", "cuda:2"}
	for _, test := range []struct {
		options Options
		want    int
	}{
		{Options{Devices: cpu, Threads: 1, PerProcess: 1}, Cores()},
		{Options{Devices: cpu, Threads: 10000, PerProcess: 1}, 1},
		{Options{Devices: gpu, Threads: 2, PerProcess: 1}, 1},
		{Options{Devices: gpus, Threads: 2, PerProcess: 1}, 3},
		{Options{Devices: gpu, Jobs: 7, Threads: 2, PerProcess: 1}, 7},
		{Options{Devices: gpus, Jobs: 2, Threads: 2, PerProcess: 1}, 2},
		{Options{Devices: cpu, Jobs: 7, Threads: 2, PerProcess: 1}, 7},
		{Options{Devices: gpus, Threads: 1, PerProcess: 4}, 12},
		{Options{Devices: gpus, Jobs: 2, Threads: 1, PerProcess: 4}, 2},
	} {
		if got := test.options.AtOnce(); got != test.want {
			t.Errorf("%+v: %d, want %d", test.options, got, test.want)
		}
	}
}

// More recorded runs than libtorch has streams for do not share a process.
func TestCheckGraphs(t *testing.T) {
	gpu := []string{"cuda:0"}
	for _, test := range []struct {
		options  Options
		runs     int
		recorded bool
		refused  bool
	}{
		{Options{Devices: gpu, PerProcess: 9}, 20, true, true},
		{Options{Devices: gpu, Jobs: 20, PerProcess: 8}, 20, true, false},
		{Options{Devices: gpu, Jobs: 4, PerProcess: 9}, 20, true, false},
		{Options{Devices: gpu, PerProcess: 9}, 8, true, false},
		{Options{Devices: gpu, PerProcess: 9}, 20, false, false},
		{Options{Devices: []string{"cpu"}, Threads: 1, Jobs: 9, PerProcess: 9}, 20, true, false},
	} {
		runs := make([]plan.Run, test.runs)
		runs[test.runs-1].Config.Train.Graph = test.recorded
		err := test.options.CheckGraphs(runs)
		if (err != nil) != test.refused || err != nil && !strings.Contains(err.Error(), "--per-process 9") {
			t.Errorf("%+v of %d runs, recorded %v: %v", test.options, test.runs, test.recorded, err)
		}
	}
}
