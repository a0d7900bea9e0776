package torch

// #include "iwtorch.h"
import "C"

import "runtime"

// Seed seeds libtorch's generators, those of every device, for initialisation and
// dropout.
func Seed(seed uint64) { check("Seed", C.iwt_seed(C.uint64_t(seed))) }

// GeneratorState returns the state of the device's generator. Setting it later
// repeats the same draws.
func GeneratorState(device Device) []byte {
	state := made("GeneratorState", C.iwt_generator_state(device.index()))
	defer state.Release()
	return ToSlice[uint8](state)
}

// SetGeneratorState restores what [GeneratorState] returned, from the same version of
// libtorch.
func SetGeneratorState(device Device, state []byte) {
	t := FromSlice(state, len(state))
	defer t.Release()
	check("SetGeneratorState", C.iwt_set_generator_state(device.index(), t.box()))
	runtime.KeepAlive(t.t.T)
}
