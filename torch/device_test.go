package torch

import (
	"fmt"
	"strings"
	"testing"
)

// A device has the name that its driver gives it; the CPU and a device that is not there have none.
func TestDeviceName(t *testing.T) {
	for _, d := range devices() {
		if name := d.Name(); (name != "") != d.IsCUDA() {
			t.Errorf("%v is called %q", d, name)
		}
	}
	if name := CUDA(99).Name(); name != "" {
		t.Errorf("a GPU that is not there is called %q", name)
	}
}

func TestParseDevices(t *testing.T) {
	if got := fmt.Sprint(allCUDA(3)); got != "[cuda:0 cuda:1 cuda:2]" {
		t.Errorf("three GPUs: %s", got)
	}
	if devices, err := ParseDevices("cpu"); err != nil || len(devices) != 1 || devices[0] != CPU {
		t.Errorf("cpu: %v, %v", devices, err)
	}
	for list, want := range map[string]string{
		"cpu, cpu":    "cpu is named twice",
		"cpu,cuda:99": `device "cuda:99"`,
		"cpu,":        `device ""`,
	} {
		if devices, err := ParseDevices(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", list, devices, err)
		}
	}
}
