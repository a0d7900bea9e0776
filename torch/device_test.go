package torch

import (
	"fmt"
	"strings"
	"testing"
)

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
