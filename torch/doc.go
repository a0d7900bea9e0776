// Package torch is the one door to libtorch: tensors, automatic differentiation and
// optimisers with deterministic memory, on top of gotorch.
//
// # Memory
//
// Every operation returns a new [Tensor]. Inside [Tidy] it belongs to the current
// scope and its memory is given back, in one call, when the scope's function
// returns; [Keep] takes a tensor out of its scope. A training step is one scope:
//
//	torch.Tidy(func() {
//		_, logits := network.Forward(batch, true)
//		loss := losses.CrossEntropy(logits, labels)
//		optimizer.ZeroGrad()
//		loss.Backward()
//		optimizer.Step(settings)
//		total += loss.Item()
//	})
//
// Outside any scope, and after Keep, a tensor lives until the garbage collector
// finds it unreachable or [Tensor.Release] is called. Using a tensor whose scope has
// ended is a [*Error], not a crash.
//
// # Errors
//
// An operation that libtorch refuses (wrong shapes, wrong types, no memory) panics
// with a [*Error] that names the operation. It is a mistake in the program in nearly
// every case, and a return value on each of some hundred calls a step would hide the
// mathematics. [Try] turns the panic into an error at the edge of a program. No C++
// exception leaves the shim.
//
// # Threads
//
// libtorch keeps caches, the gradient mode and the current scope a thread. [Tidy]
// and [NoGrad] lock the calling goroutine to its thread while they run. One
// goroutine should do all computing; tensors may be handed between goroutines, but
// not used by two at once.
package torch
