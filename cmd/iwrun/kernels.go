package main

import (
	"os"
	"syscall"

	"iwda/torch"
)

// kernelsVariable names OpenBLAS's kernels.
const kernelsVariable = "OPENBLAS_CORETYPE"

// takeBetterKernels starts this program anew where OpenBLAS has chosen kernels that are older
// than the processor and nobody has named others. It only returns where nothing is to be
// done, or nothing can be.
func takeBetterKernels() {
	if os.Getenv(kernelsVariable) != "" {
		return
	}
	better := torch.BetterBLASKernels()
	program, err := os.Executable()
	if better == "" || err != nil {
		return
	}
	syscall.Exec(program, os.Args, append(os.Environ(), kernelsVariable+"="+better))
}
