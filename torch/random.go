package torch

// #include "iwtorch.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Random is what a training run draws its random numbers from. libtorch has one generator for
// each device of the process: runs that draw from it depend on those beside them, and those
// that have a Random do not. Its numbers are the ones that libtorch's generator of the CPU
// would draw after the same seed. Only one goroutine may use it at a time.
type Random struct {
	random unsafe.Pointer
}

// NewRandom returns the numbers that follow from the seed.
func NewRandom(seed uint64) *Random {
	r := new(Random)
	check("NewRandom", C.iwt_random_new(C.uint64_t(seed), &r.random))
	runtime.SetFinalizer(r, func(r *Random) { C.iwt_random_free(r.random) })
	return r
}

// Seed begins with those of another seed.
func (r *Random) Seed(seed uint64) {
	check("Random.Seed", C.iwt_random_seed(r.random, C.uint64_t(seed)))
	runtime.KeepAlive(r)
}

// State returns what the numbers to come depend on, for [Random.SetState].
func (r *Random) State() []byte {
	state := made("Random.State", C.iwt_random_state(r.random))
	defer state.Release()
	runtime.KeepAlive(r)
	return ToSlice[uint8](state)
}

// SetState makes the numbers follow that came after [Random.State], in the same version of
// libtorch.
func (r *Random) SetState(state []byte) {
	t := FromSlice(state, len(state))
	defer t.Release()
	done("Random.SetState", C.iwt_random_set_state(r.random, t.box()), t)
	runtime.KeepAlive(r)
}

// Use runs f, in which this goroutine's dropout draws from r, and so do the modules of
// [Module.Forward] in training.
func (r *Random) Use(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := C.iwt_random_enter(r.random)
	defer func() {
		C.iwt_random_enter(before)
		runtime.KeepAlive(r)
	}()
	f()
}

// UseSeed is [Random.Use] where dropout follows from a seed of [Random.DeviceSeed], in
// operations of the device. For work that a [Graph] records the seed is a scalar on the device
// that is overwritten before every repetition; what modules draw by themselves is libtorch's
// then.
func (r *Random) UseSeed(seed Coefficient, f func()) {
	const op = "Random.UseSeed"
	check(op, C.iwt_random_set_seeded(r.random, true, seed.c(op)))
	runtime.KeepAlive(seed.scalar.t.T)
	defer func() { check(op, C.iwt_random_set_seeded(r.random, false, C.iwt_coefficient{})) }()
	r.Use(f)
}

// DeviceSeed draws a seed: an integer that a float64 holds, as it travels with a step's other
// numbers.
func (r *Random) DeviceSeed() float64 {
	var number C.uint64_t
	check("Random.DeviceSeed", C.iwt_random_next(r.random, &number))
	runtime.KeepAlive(r)
	const bits = 53 // of a float64's integers
	return float64(uint64(number) >> (64 - bits))
}

// Lend runs f, in which libtorch's generator of the CPU draws r's numbers: what draws from no
// other, as the initialisation of networks. Of several goroutines that lend, one has to wait
// for the other; those that draw from that generator without must not do so at the same time.
func (r *Random) Lend(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var lending unsafe.Pointer
	check("Random.Lend", C.iwt_random_lend(r.random, &lending))
	defer func() {
		C.iwt_random_take_back(lending)
		runtime.KeepAlive(r)
	}()
	f()
}
