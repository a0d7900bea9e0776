package torch

// #include "iwtorch.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Coefficient is a factor that changes from one step to the next: a number, or a scalar on a
// device in its place, which a [Graph] reads whenever it runs.
type Coefficient struct {
	number float64
	scalar Tensor
}

// Number is a coefficient that is known.
func Number(value float64) Coefficient { return Coefficient{number: value} }

// Scalar is the coefficient in a tensor without dimensions.
func Scalar(t Tensor) Coefficient { return Coefficient{scalar: t} }

func (c Coefficient) c(op string) C.iwt_coefficient {
	if !c.scalar.IsZero() {
		c.scalar.mustLive(op)
	}
	return C.iwt_coefficient{number: C.double(c.number), scalar: c.scalar.box()}
}

// A Graph runs the same work many times. On a GPU the work is recorded after some runs, and
// from then on asked for as a whole: one request in the place of one for every operation. On
// a CPU, and if the libraries were compiled without CUDA's graphs, it runs as it is.
type Graph struct {
	body   func() Tensor
	graph  unsafe.Pointer // nil if nothing is recorded
	runs   int
	result Tensor // of the recorded work
}

// warmUps is the number of runs before the work is recorded: libraries choose their
// algorithms and take their memory in them.
const warmUps = 3

// NewGraph returns the graph of a body, work on that device. What differs from run to run the
// body has to read from tensors that were made outside and are overwritten between two runs:
// it must neither copy anything from or to the host nor depend on what the host knows. Tensors
// that it changes must have been made outside, or in one of its runs.
func NewGraph(device Device, body func() Tensor) *Graph {
	g := &Graph{body: body}
	if device.IsCUDA() {
		check("NewGraph", C.iwt_graph_new(device.index(), &g.graph))
		runtime.SetFinalizer(g, (*Graph).Close)
	}
	return g
}

// Run does the work and returns the body's result, which is valid until the next run.
func (g *Graph) Run() Tensor {
	if g.graph == nil {
		return g.body()
	}
	if g.runs++; g.runs <= warmUps {
		return g.onStream(false)
	}
	if g.result.IsZero() {
		g.result = Keep(g.onStream(true))
	}
	check("Graph.Run", C.iwt_graph_replay(g.graph))
	runtime.KeepAlive(g)
	return g.result
}

// onStream runs the body on the graph's stream.
func (g *Graph) onStream(recorded bool) (result Tensor) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	check("Graph.Run", C.iwt_graph_begin(g.graph, C.bool(recorded)))
	whole := false
	defer func() {
		if !whole {
			C.iwt_graph_abandon(g.graph)
		}
	}()
	Tidy(func() { result = Keep(g.body()) })
	whole = true
	check("Graph.Run", C.iwt_graph_end(g.graph))
	runtime.KeepAlive(g)
	return result
}

// Close frees what was recorded. Closing a graph twice does nothing.
func (g *Graph) Close() {
	if g.graph == nil {
		return
	}
	g.result.Release()
	C.iwt_graph_free(g.graph)
	g.graph = nil
	runtime.SetFinalizer(g, nil)
}
