package adapt

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// The projection is that onto the principal components that gonum finds by all of the covariance, but
// for their signs.
func TestPrincipal(t *testing.T) {
	const n, columns = 300, 40
	random := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(n, columns, nil)
	for i := range n {
		for j := range columns {
			x.Set(i, j, 3+random.NormFloat64()*math.Pow(0.8, float64(j)))
		}
	}
	var all stat.PC
	if !all.PrincipalComponents(x, nil) {
		t.Fatal("no principal components")
	}
	var vectors, want mat.Dense
	all.VectorsTo(&vectors)
	variances := all.VarsTo(nil)
	centred := mat.DenseCopyOf(x)
	for j := range columns {
		mean := stat.Mean(mat.Col(nil, j, x), nil)
		for i := range n {
			centred.Set(i, j, x.At(i, j)-mean)
		}
	}
	want.Mul(centred, vectors.Slice(0, columns, 0, 2))
	got := principal(x)
	sum := 0.0
	for _, v := range variances {
		sum += v
	}
	for c := range 2 {
		if math.Abs(got.explained[c]-variances[c]/sum) > 1e-3 {
			t.Errorf("component %d explains %v, want %v", c, got.explained[c], variances[c]/sum)
		}
		sign := math.Copysign(1, want.At(0, c)*got.rows[0][c])
		for i, row := range got.rows {
			if math.Abs(sign*row[c]-want.At(i, c)) > 0.02 {
				t.Fatalf("row %d is at %v of component %d, want %v", i, row[c], c, want.At(i, c))
			}
		}
	}
}

// One column has one component, and rows that are all the same none.
func TestPrincipalOfLittle(t *testing.T) {
	got := principal(mat.NewDense(3, 1, []float64{1, 2, 6}))
	if math.Abs(got.explained[0]-1) > 1e-12 || got.explained[1] != 0 || math.Abs(math.Abs(got.rows[2][0])-3) > 1e-12 || got.rows[2][1] != 0 {
		t.Errorf("%+v", got)
	}
	if got := principal(mat.NewDense(2, 2, []float64{5, 5, 5, 5})); got.explained != [2]float64{} || got.rows[1] != [2]float64{} {
		t.Errorf("%+v", got)
	}
}
