package schedule

import "testing"

func TestAtOnce(t *testing.T) {
	cpu, gpu, gpus := []string{"cpu"}, []string{"cuda:0"}, []string{"cuda:0", "cuda:1", "cuda:2"}
	for _, test := range []struct {
		options Options
		want    int
	}{
		{Options{Devices: cpu, Threads: 1}, Cores()},
		{Options{Devices: cpu, Threads: 10000}, 1},
		{Options{Devices: gpu, Threads: 2}, 1},
		{Options{Devices: gpus, Threads: 2}, 3},
		{Options{Devices: gpu, Jobs: 7, Threads: 2}, 7},
		{Options{Devices: gpus, Jobs: 2, Threads: 2}, 2},
		{Options{Devices: cpu, Jobs: 7, Threads: 2}, 7},
	} {
		if got := test.options.AtOnce(); got != test.want {
			t.Errorf("%+v: %d, want %d", test.options, got, test.want)
		}
	}
}
