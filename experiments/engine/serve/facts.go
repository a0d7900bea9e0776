package serve

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"iwda/experiments/engine"
	"iwda/internal/input"
	"iwda/torch"
)

func facts(context.Context, *any) (engine.Facts, error) {
	return engine.Facts{
		Torch:        torch.Version(),
		CUDADevices:  cudaDevices(),
		Libraries:    loadedLibraries(),
		OneDNN:       torch.ProductsByOneDNN(),
		Instructions: torch.InstructionSet(),
		Convolutions: torch.ConvolutionInstructions(),
		Parallel:     torch.ParallelInfo(),
	}, nil
}

// cudaDevices returns the models of the CUDA devices.
func cudaDevices() []string {
	models := make([]string, torch.CUDADevices())
	for i := range models {
		models[i] = cmp.Or(torch.CUDA(i).Name(), "unknown model")
	}
	return models
}

// loadedLibraries returns the paths of the shared libraries of this process.
func loadedLibraries() []string {
	text, _ := input.Read("/proc/self/maps", input.Text)
	var paths []string
	for line := range strings.Lines(string(text)) {
		if start := strings.Index(line, "/"); start >= 0 && strings.Contains(line, ".so") {
			paths = append(paths, strings.TrimSpace(line[start:]))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
