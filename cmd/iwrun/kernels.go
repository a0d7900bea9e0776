package main

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"iwda/torch"
)

// kernelsVariable names OpenBLAS's kernels; ownKernelsVariable says that this program did.
const (
	kernelsVariable    = "OPENBLAS_CORETYPE"
	ownKernelsVariable = "IWRUN_CHOSE_KERNELS"
)

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
	syscall.Exec(program, os.Args, append(os.Environ(), kernelsVariable+"="+better, ownKernelsVariable+"=yes"))
}

// environmentElsewhere is this process's environment for what may start programs on other
// machines, whose processors may lack what kernels chosen here take.
func environmentElsewhere() []string {
	environment := os.Environ()
	if os.Getenv(ownKernelsVariable) == "" {
		return environment
	}
	return slices.DeleteFunc(environment, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == kernelsVariable || name == ownKernelsVariable
	})
}
