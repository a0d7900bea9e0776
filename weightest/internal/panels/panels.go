// Package panels holds rows by columns in parts that stay in a fast cache, works on them on
// all cores with the same bits on any number of them, and adds up what they give.
package panels

import (
	"runtime"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/parallel"
	"iwda/internal/simd"
)

const (
	// Height is the number of rows of a panel: a column of it stays in the fastest
	// cache.
	Height = 256
	// panelGroups is how many groups of panels are worked on at the same time, where
	// there are cores for them.
	panelGroups = 8
	// groupStorage bounds the groups' partial sums, in entries of k×k matrices.
	groupStorage = 1 << 22
	// worthwhile is the number of products below which goroutines do not pay.
	worthwhile = 1 << 18
)

// Panels are n rows of k values, in panels of Height rows that hold one column after
// the other, so that what is done to columns runs over adjacent values.
type Panels struct {
	Rows, Classes int
	Data          []float64
	Scratch       Scratch
}

// Scratch keeps storage from one use to the next.
type Scratch struct{ pool sync.Pool }

// Take returns n values, which may be any.
func (s *Scratch) Take(n int) []float64 {
	if kept, ok := s.pool.Get().(*[]float64); ok && cap(*kept) >= n {
		return (*kept)[:n]
	}
	return make([]float64, n)
}

// Give gives back what Take returned.
func (s *Scratch) Give(values []float64) { s.pool.Put(&values) }

// New copies some rows and some columns, in the order in which they are named, of
// row-major rows of k values and the more rows that follow them; nil names all of them.
func New(rows, more []float64, k int, keptRows, keptColumns []int) *Panels {
	own := len(rows) / k
	n, m := k, own+len(more)/k
	if keptColumns != nil {
		n = len(keptColumns)
	}
	if keptRows != nil {
		m = len(keptRows)
	}
	p := &Panels{Rows: m, Classes: n, Data: make([]float64, m*n)}
	p.EachGroup(4*n, func(_, firstPanel, lastPanel int) {
		var block []float64 // row-major rows of a panel, where these are not among those given
		if keptRows != nil || keptColumns != nil || more != nil {
			block = make([]float64, Height*n)
		}
		for i := firstPanel; i < lastPanel; i++ {
			first, height := p.Extent(i)
			if block == nil {
				simd.Transpose(p.Panel(i), rows[first*n:], height, n, height, n)
				continue
			}
			for row := range height {
				from := first + row
				if keptRows != nil {
					from = keptRows[from]
				}
				all, kept := rows, block[row*n:(row+1)*n]
				if from >= own {
					all, from = more, from-own
				}
				all = all[from*k : (from+1)*k]
				if keptColumns == nil {
					copy(kept, all)
					continue
				}
				for a, j := range keptColumns {
					kept[a] = all[j]
				}
			}
			simd.Transpose(p.Panel(i), block, height, n, height, n)
		}
	})
	return p
}

// Panel returns the columns of the i-th panel, one after the other.
func (p *Panels) Panel(i int) []float64 {
	first, height := p.Extent(i)
	return p.Data[first*p.Classes : (first+height)*p.Classes]
}

// Count returns the number of panels.
func (p *Panels) Count() int { return (p.Rows + Height - 1) / Height }

// Extent returns the first row of the i-th panel and the number of its rows.
func (p *Panels) Extent(i int) (first, height int) {
	first = i * Height
	return first, min(Height, p.Rows-first)
}

// Column returns the j-th column of the i-th panel.
func (p *Panels) Column(i, j int) []float64 {
	first, height := p.Extent(i)
	start := first*p.Classes + j*height
	return p.Data[start : start+height]
}

// EachGroup calls work for every group of panels, from the first to before the last, at
// the same time where that pays: cost is the number of products a row. Groups depend on
// the numbers of rows and classes alone, so that sums over them, in their order, have
// the same bits on every machine.
func (p *Panels) EachGroup(cost int, work func(group, first, last int)) {
	count, groups := p.Count(), p.Groups()
	processors := runtime.GOMAXPROCS(0)
	if p.Rows*cost < worthwhile {
		processors = 1
	}
	parallel.Each(processors, groups, func(_, group int) {
		work(group, count*group/groups, count*(group+1)/groups)
	})
}

// Each runs the tasks 0, 1, … at the same time on as many goroutines as there are
// processors.
func Each(tasks int, run func(task int)) {
	parallel.Each(runtime.GOMAXPROCS(0), tasks, func(_, task int) { run(task) })
}

// Groups returns the number of groups that EachGroup names.
func (p *Panels) Groups() int {
	return max(1, min(panelGroups, p.Count(), groupStorage/(p.Classes*p.Classes)))
}

// AddGram adds the upper triangle of XᵀX to sums, where X are columns of a panel.
func AddGram(sums *mat.SymDense, x [][]float64) {
	raw := sums.RawSymmetric()
	simd.AddGram(raw.Data, raw.Stride, x)
}

// AddSymmetric adds the upper triangle of b to a.
func AddSymmetric(a, b *mat.SymDense) {
	x, y := a.RawSymmetric(), b.RawSymmetric()
	for i := range x.N {
		floats.Add(x.Data[i*x.Stride+i:i*x.Stride+x.N], y.Data[i*y.Stride+i:i*y.Stride+y.N])
	}
}

// Block returns the rows and columns of a matrix at the indices, and a zero where there is
// none.
func Block(m *mat.SymDense, indices []int) *mat.SymDense {
	block := mat.NewSymDense(max(1, len(indices)), nil)
	for a, i := range indices {
		for b, j := range indices[:a+1] {
			block.SetSym(a, b, m.At(i, j))
		}
	}
	return block
}
