package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/stat/distmv"

	"iwda/datasets"
)

// classes is the number of classes of MNIST.
const classes = 10

// The kinds of shift.
const (
	// Dirichlet draws the target's class shares from the symmetric Dirichlet distribution
	// of that concentration.
	Dirichlet = "dirichlet"
	// TweakOne gives one class that share of the target and the others equal ones.
	TweakOne = "tweak-one"
)

// Shift is how the class shares of targets come about.
type Shift struct {
	Kind      string  `yaml:"kind"`
	Parameter float64 `yaml:"parameter"`
	Class     int     `yaml:"class"` // of tweak-one
}

// String returns the shift as tables head it: "Dirichlet, α = 0.1".
func (s Shift) String() string {
	value := strconv.FormatFloat(s.Parameter, 'g', -1, 64)
	if s.Kind == Dirichlet {
		return "Dirichlet, α = " + value
	}
	return fmt.Sprintf("Tweak-one, class %d has ρ = %s", s.Class, value)
}

func (s Shift) check() error {
	switch {
	case s.Kind != Dirichlet && s.Kind != TweakOne:
		return invalid("kind of a shift", s.Kind, Dirichlet+" or "+TweakOne)
	case s.Kind == Dirichlet && !(s.Parameter > 0 && !math.IsInf(s.Parameter, 0)):
		return invalid("parameter of a Dirichlet shift", s.Parameter, "above 0")
	case s.Kind == TweakOne && !(s.Parameter >= 0 && s.Parameter <= 1):
		return invalid("parameter of a tweak-one shift", s.Parameter, "from 0 to 1")
	case s.Class < 0 || s.Class >= classes:
		return invalid("class of a tweak-one shift", s.Class, fmt.Sprintf("from 0 to %d", classes-1))
	}
	return nil
}

// shares returns a target's class shares.
func (s Shift) shares(source *rand.PCG) []float64 {
	p := make([]float64, classes)
	if s.Kind == Dirichlet {
		for y := range p {
			p[y] = s.Parameter
		}
		return distmv.NewDirichlet(p, source).Rand(nil)
	}
	for y := range p {
		p[y] = (1 - s.Parameter) / float64(classes-1)
	}
	p[s.Class] = s.Parameter
	return p
}

// rowsByClass lists the rows of each class.
func rowsByClass(labels []int) [][]int {
	rows := make([][]int, classes)
	for row, y := range labels {
		rows[y] = append(rows[y], row)
	}
	return rows
}

// drawClass draws a class from the shares.
func drawClass(random *rand.Rand, shares []float64) int {
	level := random.Float64()
	for y, share := range shares {
		if level -= share; level < 0 {
			return y
		}
	}
	last := classes - 1
	for shares[last] == 0 { // where rounding left a rest
		last--
	}
	return last
}

// drawQuotas draws n rows with replacement, ⌊n·p_y⌋ of each class y and the classes of
// the rest from p.
func drawQuotas(random *rand.Rand, byClass [][]int, p []float64, n int) []int {
	rows := make([]int, 0, n)
	one := func(y int) { rows = append(rows, byClass[y][random.IntN(len(byClass[y]))]) }
	for y, share := range p {
		for range int(float64(n) * share) {
			one(y)
		}
	}
	for len(rows) < n {
		one(drawClass(random, p))
	}
	return rows
}

// drawIndependent draws n rows with replacement, the class of each from p.
func drawIndependent(random *rand.Rand, byClass [][]int, p []float64, n int) []int {
	rows := make([]int, n)
	for i := range rows {
		of := byClass[drawClass(random, p)]
		rows[i] = of[random.IntN(len(of))]
	}
	return rows
}

// stream returns the generator of one draw.
func stream(seed int64, purpose string, values ...any) (*rand.Rand, *rand.PCG) {
	source := datasets.Stream(seed, purpose+fmt.Sprint(values...))
	return rand.New(source), source
}
