package torch

import (
	"io"
	"reflect"
	"strings"
	"testing"
)

// released returns a tensor whose scope has ended.
func released() (t Tensor) {
	Tidy(func() { t = Full(1, Float64, CPU, 2, 2) })
	return t
}

// mustBeReleased checks that f panics with an *Error that says why.
func mustBeReleased(t *testing.T, what string, f func()) {
	t.Helper()
	if e := refused(t, what, f); !strings.Contains(e.Msg, "released") {
		t.Errorf("%s: %v", what, e)
	}
}

// withoutMemory are the methods that do not look at what a tensor holds.
var withoutMemory = map[string]bool{"IsZero": true, "Release": true, "String": true}

// TestMethodsOnReleasedTensors calls every method with a released tensor as its
// receiver, and once for every tensor among its arguments.
func TestMethodsOnReleasedTensors(t *testing.T) {
	Tidy(func() {
		dead, live := released(), Full(1, Float64, CPU, 2, 2)
		tensor, statistics := reflect.TypeFor[Tensor](), reflect.TypeFor[RunningStatistics]()
		for i := range tensor.NumMethod() {
			method := tensor.Method(i)
			if withoutMemory[method.Name] {
				continue
			}
			arguments := func(at int) []reflect.Value {
				var values []reflect.Value
				for j := range method.Type.NumIn() {
					given := live
					if j == at {
						given = dead
					}
					switch in := method.Type.In(j); in {
					case tensor:
						values = append(values, reflect.ValueOf(given))
					case statistics:
						values = append(values, reflect.ValueOf(RunningStatistics{Mean: live, Variance: given}))
					default:
						values = append(values, reflect.Zero(in))
					}
				}
				return values
			}
			for j := range method.Type.NumIn() {
				if in := method.Type.In(j); in != tensor && in != statistics {
					continue
				}
				t.Run(method.Name, func(t *testing.T) {
					mustBeReleased(t, "a released tensor", func() {
						if method.Type.IsVariadic() {
							method.Func.CallSlice(arguments(j))
						} else {
							method.Func.Call(arguments(j))
						}
					})
				})
			}
		}
	})
}

func TestFunctionsOnReleasedTensors(t *testing.T) {
	Tidy(func() {
		dead, live := released(), Full(1, Float64, CPU, 2, 2)
		parameter := Full(1, Float64, CPU, 2, 2).SetRequiresGrad(true)
		optimizer := NewSGD([]Tensor{parameter})
		defer optimizer.Close()
		for name, f := range map[string]func(){
			"Cat":             func() { Cat(0, live, dead) },
			"Keep":            func() { Keep(dead) },
			"CopyFromSlice":   func() { CopyFromSlice(dead, make([]float64, 4)) },
			"CopyToSlice":     func() { CopyToSlice(make([]float64, 4), dead) },
			"ToSlice":         func() { ToSlice[float64](dead) },
			"NewSGD":          func() { NewSGD([]Tensor{parameter, dead}) },
			"SGD.SetMomentum": func() { optimizer.SetMomentum([]Tensor{dead}) },
			"WriteTensors":    func() { _ = WriteTensors(io.Discard, []Named{{"x", dead}}, nil) },
			"BatchNorm mean": func() {
				live.BatchNorm(live, live, RunningStatistics{Mean: dead, Variance: live}, 0, true)
			},
		} {
			mustBeReleased(t, name, f)
		}
	})
}

func TestClosedOptimizer(t *testing.T) {
	Tidy(func() {
		optimizer := NewSGD([]Tensor{Full(1, Float64, CPU, 2).SetRequiresGrad(true)})
		optimizer.Close()
		optimizer.Close()
		for name, f := range map[string]func(){
			"Step":        func() { optimizer.Step(SGDOptions{LearningRate: Number(1)}) },
			"ZeroGrad":    func() { optimizer.ZeroGrad() },
			"Momentum":    func() { optimizer.Momentum() },
			"SetMomentum": func() { optimizer.SetMomentum([]Tensor{Full(1, Float64, CPU, 2)}) },
		} {
			if e := refused(t, name, f); e.Op != "SGD."+name || !strings.Contains(e.Msg, "closed") {
				t.Errorf("%s: %v", name, e)
			}
		}
	})
}
