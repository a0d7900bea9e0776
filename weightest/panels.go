package weightest

import (
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/simd"
)

const (
	// panelRows is the number of rows of a panel: a column of it stays in the fastest
	// cache.
	panelRows = 256
	// panelGroups is how many groups of panels are worked on at the same time, where
	// there are cores for them.
	panelGroups = 8
	// groupStorage bounds the groups' partial sums, in entries of k×k matrices.
	groupStorage = 1 << 22
	// worthwhile is the number of products below which goroutines do not pay.
	worthwhile = 1 << 18
)

// panels are n rows of k values, in panels of panelRows rows that hold one column after
// the other, so that what is done to columns runs over adjacent values.
type panels struct {
	rows, classes int
	data          []float64
	alone         bool // the callers keep every processor busy
	scratch       scratch
}

// scratch keeps storage from one use to the next.
type scratch struct{ pool sync.Pool }

// take returns n values, which may be any.
func (s *scratch) take(n int) []float64 {
	if kept, ok := s.pool.Get().(*[]float64); ok && cap(*kept) >= n {
		return (*kept)[:n]
	}
	return make([]float64, n)
}

// give gives back what take returned.
func (s *scratch) give(values []float64) { s.pool.Put(&values) }

// newPanels copies some rows and some columns, in the order in which they are named, of
// row-major rows of k values; nil names all of them.
func newPanels(rows []float64, k int, keptRows, keptColumns []int) *panels {
	n, m := k, len(rows)/k
	if keptColumns != nil {
		n = len(keptColumns)
	}
	if keptRows != nil {
		m = len(keptRows)
	}
	p := &panels{rows: m, classes: n, data: make([]float64, m*n)}
	var block []float64 // row-major rows of a panel, where these are not among those given
	if keptRows != nil || keptColumns != nil {
		block = make([]float64, panelRows*n)
	}
	for i := range p.count() {
		first, height := p.extent(i)
		if block == nil {
			simd.Transpose(p.panel(i), rows[first*n:], height, n, height, n)
			continue
		}
		for row := range height {
			from := first + row
			if keptRows != nil {
				from = keptRows[from]
			}
			all, kept := rows[from*k:(from+1)*k], block[row*n:(row+1)*n]
			if keptColumns == nil {
				copy(kept, all)
				continue
			}
			for a, j := range keptColumns {
				kept[a] = all[j]
			}
		}
		simd.Transpose(p.panel(i), block, height, n, height, n)
	}
	return p
}

// upTo returns 0, 1, …, n-1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// panel returns the columns of the i-th panel, one after the other.
func (p *panels) panel(i int) []float64 {
	first, height := p.extent(i)
	return p.data[first*p.classes : (first+height)*p.classes]
}

// thinned returns a copy of every step-th row; step divides panelRows.
func (p *panels) thinned(step int) *panels {
	n := (p.rows + step - 1) / step
	few := &panels{rows: n, classes: p.classes, data: make([]float64, n*p.classes)}
	for i := range few.count() {
		first, _ := few.extent(i)
		for j := range p.classes {
			column := few.column(i, j)
			for row := range column {
				from := (first + row) * step
				column[row] = p.column(from/panelRows, j)[from%panelRows]
			}
		}
	}
	return few
}

func (p *panels) count() int { return (p.rows + panelRows - 1) / panelRows }

// extent returns the first row of the i-th panel and the number of its rows.
func (p *panels) extent(i int) (first, height int) {
	first = i * panelRows
	return first, min(panelRows, p.rows-first)
}

// column returns the j-th column of the i-th panel.
func (p *panels) column(i, j int) []float64 {
	first, height := p.extent(i)
	start := first*p.classes + j*height
	return p.data[start : start+height]
}

// eachGroup calls work for every group of panels, from the first to before the last, at
// the same time where that pays: cost is the number of products a row. Groups depend on
// the numbers of rows and classes alone, so that sums over them, in their order, have
// the same bits on every machine.
func (p *panels) eachGroup(cost int, work func(group, first, last int)) {
	count, groups := p.count(), p.groups()
	var begun, ended atomic.Int64
	finished := make(chan struct{})
	takeGroups := func() {
		for group := int(begun.Add(1)) - 1; group < groups; group = int(begun.Add(1)) - 1 {
			work(group, count*group/groups, count*(group+1)/groups)
			if ended.Add(1) == int64(groups) {
				close(finished)
			}
		}
	}
	if !p.alone && p.rows*cost >= worthwhile {
		for range min(runtime.GOMAXPROCS(0), groups) - 1 {
			go takeGroups()
		}
	}
	takeGroups()
	<-finished // helpers that come too late to take a group are not waited for
}

func (p *panels) groups() int {
	return max(1, min(panelGroups, p.count(), groupStorage/(p.classes*p.classes)))
}

// addGram adds the upper triangle of XᵀX to sums, where X are columns of a panel.
func addGram(sums *mat.SymDense, x [][]float64) {
	raw := sums.RawSymmetric()
	simd.AddGram(raw.Data, raw.Stride, x)
}

// addSymmetric adds the upper triangle of b to a.
func addSymmetric(a, b *mat.SymDense) {
	x, y := a.RawSymmetric(), b.RawSymmetric()
	for i := range x.N {
		floats.Add(x.Data[i*x.Stride+i:i*x.Stride+x.N], y.Data[i*y.Stride+i:i*y.Stride+y.N])
	}
}
