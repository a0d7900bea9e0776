package torch

import (
	"testing"

	"golang.org/x/sys/cpu"
)

// Kernels give way to better ones alone, and never to those that the processor lacks.
func TestBetterKernels(t *testing.T) {
	for _, fine := range []string{"", "Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids", "neoversen1"} {
		if better := betterKernels(fine); better != "" {
			t.Errorf("%s would give way to %s", fine, better)
		}
	}
	want := ""
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		want = "Haswell"
	}
	if cpu.X86.HasAVX512VL && cpu.X86.HasAVX512BW {
		want = "SkylakeX"
	}
	for _, old := range []string{"Prescott", "Nehalem"} {
		if got := betterKernels(old); got != want {
			t.Errorf("%s gives way to %q, want %q", old, got, want)
		}
	}
}
