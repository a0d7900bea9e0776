package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"iwda/torch"
)

func TestShare(t *testing.T) {
	cpu, gpu, gpus := []torch.Device{torch.CPU}, allGPUs(1), allGPUs(3)
	for _, test := range []struct {
		options       machineOptions
		devices       []torch.Device
		jobs, threads int
	}{
		{machineOptions{Threads: 1, PerProcess: 1}, cpu, cores(), 1},
		{machineOptions{Threads: 10000, PerProcess: 1}, cpu, 1, 10000},
		{machineOptions{Threads: 2, PerProcess: 1}, gpu, 1, 2},
		{machineOptions{Threads: 2, PerProcess: 1}, gpus, 3, 2},
		{machineOptions{Jobs: 7, Threads: 2, PerProcess: 1}, gpu, 7, 2},
		{machineOptions{Jobs: 2, Threads: 2, PerProcess: 1}, gpus, 2, 2},
		{machineOptions{Jobs: 7, Threads: 2, PerProcess: 1}, cpu, 7, 2},
		{machineOptions{Threads: 1, PerProcess: 4}, gpus, 12, 1},
		{machineOptions{Jobs: 2, Threads: 1, PerProcess: 4}, gpus, 2, 1},
	} {
		jobs, threads, err := test.options.share(test.devices)
		if err != nil || jobs != test.jobs || threads != test.threads {
			t.Errorf("%+v on %v: %d, %d, %v", test.options, test.devices, jobs, threads, err)
		}
	}
}

func TestDevices(t *testing.T) {
	if got := strings.Join(deviceNames(allGPUs(3)), " "); got != "cuda:0 cuda:1 cuda:2" {
		t.Errorf("three GPUs: %s", got)
	}
	if devices, err := (machineOptions{Device: "cpu"}).devices(); err != nil || len(devices) != 1 || devices[0] != torch.CPU {
		t.Errorf("cpu: %v, %v", devices, err)
	}
	for list, want := range map[string]string{
		"cpu, cpu":    "cpu is named twice",
		"cpu,cuda:99": "--device cuda:99",
		"cpu,":        "--device : ",
	} {
		if devices, err := (machineOptions{Device: list}).devices(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", list, devices, err)
		}
	}
}

func TestDoctor(t *testing.T) {
	status, out, err := call(t, "doctor", "-j", "1000", "--threads", "2")
	if status != 0 || err != "" {
		t.Errorf("status %d, stderr %q", status, err)
	}
	for _, part := range []string{"libtorch    " + torch.Version(), "runs        1000 at a time, threads of each: 2", "warning: 1000 runs with 2 threads each want 2000 cores"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not in\n%s", part, out)
		}
	}
}

func TestWarnings(t *testing.T) {
	const reference = "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0" // which oneDNN stands before
	healthy := facts{Torch: "2.6.0", Jobs: 2, Threads: 2, Usable: 8, Physical: 4, OneDNN: true, Libraries: []string{reference, "/usr/lib/libdnnl.so.2.6", "/usr/lib/libc.so.6"}}
	if warnings := healthy.warnings(); len(warnings) != 0 {
		t.Errorf("healthy: %q", warnings)
	}
	for want, spoil := range map[string]func(*facts){
		"want 6 cores, but there are 4": func(f *facts) { f.Jobs = 3 },
		"but there are 3":               func(f *facts) { f.Usable = 3 },
		"OMP_NUM_THREADS is 8":          func(f *facts) { f.OMPThreads = "8" },
		"NVIDIA driver":                 func(f *facts) { f.Driver = true },
		"1.9.1 is older than 1.13":      func(f *facts) { f.Torch = "1.9.1" },
		"reference BLAS":                func(f *facts) { f.Libraries[0], f.OneDNN = reference, false },
	} {
		f := healthy
		f.Libraries = append([]string{}, healthy.Libraries...)
		spoil(&f)
		if warnings := f.warnings(); len(warnings) != 1 || !strings.Contains(warnings[0], want) {
			t.Errorf("%q: %q", want, warnings)
		}
	}
	if older("1.13.1", "1.13") || older("2.0", "1.13") || !older("1.12.9", "1.13") || !older("0.99", "1.13") {
		t.Error("versions are compared wrongly")
	}
}

func TestOnSignals(t *testing.T) {
	called := make(chan int)
	release := onSignals(func() { called <- 1 }, func() { called <- 2 })
	defer release()
	for want := 1; want <= 2; want++ {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if got := <-called; got != want {
			t.Errorf("signal %d called action %d", want, got)
		}
	}
}
