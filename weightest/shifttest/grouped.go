package shifttest

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/clusters"
	"iwda/weightest"
)

// groupedCounts are numbers of rows in bins, of each group by itself.
type groupedCounts struct {
	source [][][]float64 // of each class, groups×bins
	target [][]float64   // groups×bins
	// alike is the correlation of two rows of a group, in the source within a class and in the target.
	alike [2]float64
}

// effective are the counts of all groups, each class's and the target's divided by how much more such a sum
// varies than one of rows that are each on their own (Rao and Scott 1981): 1 + ρ(Σn²/Σn - 1), n the sizes of
// groups. The correlation ρ of two rows of a group is that of the sums of squares between groups, in the
// source of all classes together.
func (g *groupedCounts) effective() binnedCounts {
	c := binnedCounts{grouped: g}
	divided := func(groups [][]float64, alike float64) []float64 {
		sum, sizes := total(groups)
		if rows := floats.Sum(sum); rows > 0 {
			floats.Scale(1/(1+alike*(floats.Dot(sizes, sizes)/rows-1)), sum)
		}
		return sum
	}
	g.alike = [2]float64{correlation(g.source...), correlation(g.target)}
	for _, groups := range g.source {
		c.source = append(c.source, divided(groups, g.alike[0]))
	}
	c.target = divided(g.target, g.alike[1])
	return c
}

// total returns the sums of groups' counts, and the groups' sizes.
func total(groups [][]float64) (sum, sizes []float64) {
	sum = make([]float64, len(groups[0]))
	for _, counts := range groups {
		floats.Add(sum, counts)
		sizes = append(sizes, floats.Sum(counts))
	}
	return sum, sizes
}

// correlation is that of two rows of a group in which bins they are in, between 0 and 1, by Pearson's sums of
// squares: 1 if no class has several groups.
func correlation(classes ...[][]float64) float64 {
	above, possible := 0.0, 0.0
	for _, groups := range classes {
		sum, sizes := total(groups)
		rows, count, bins := floats.Sum(sum), 0.0, -1.0
		for _, of := range sum {
			if of > 0 {
				bins++
			}
		}
		squares := 0.0
		for i, counts := range groups {
			if sizes[i] > 0 {
				count++
			}
			for bin, of := range sum {
				if of > 0 {
					d := counts[bin] - sizes[i]*of/rows
					squares += d * d * rows / of
				}
			}
		}
		if count > 1 {
			above += squares*count/(count-1) - rows*bins
			possible += bins * (floats.Dot(sizes, sizes) - rows)
		}
	}
	if possible <= 0 {
		return 1
	}
	return max(0, min(1, above/possible))
}

// bin counts a sample's rows by group. of returns a row's bin.
func binGroups(s *weightest.Sample, bins int, of func(row []float64) int) *groupedCounts {
	k := s.Classes()
	source, labels := s.Source()
	sourceGroups, targetGroups := s.Groups()
	number, count := clusters.Dense(sourceGroups, len(labels))
	g := &groupedCounts{source: make([][][]float64, k)}
	at := make([]map[int]int, k) // of each class's groups
	for y := range at {
		at[y] = make(map[int]int, count)
	}
	for i, y := range labels {
		place, known := at[y][number[i]]
		if !known {
			place = len(g.source[y])
			at[y][number[i]], g.source[y] = place, append(g.source[y], make([]float64, bins))
		}
		g.source[y][place][of(source[i*k:(i+1)*k])]++
	}
	for y, groups := range g.source {
		if groups == nil {
			g.source[y] = [][]float64{make([]float64, bins)}
		}
	}
	number, count = clusters.Dense(targetGroups, len(s.Target())/k)
	g.target = make([][]float64, count)
	for i := range g.target {
		g.target[i] = make([]float64, bins)
	}
	for i, group := range number {
		g.target[group][of(s.Target()[i*k:(i+1)*k])]++
	}
	return g
}

// resample draws counts of groups of the same sizes from bins' shares of each class, and of the target:
// those of a group by Pólya's urn, in which each row has the bin of one that was drawn before as often as
// two of a group correlate.
func (g *groupedCounts) resample(ofClass [][]float64, target []float64, random *rand.Rand) binnedCounts {
	draw := func(groups [][]float64, shares []float64, alike float64) (drawn [][]float64) {
		rising := slices.Clone(shares)
		floats.CumSum(rising, rising)
		own := math.Inf(1)
		if alike > 0 {
			own = (1 - alike) / alike
		}
		var bins []int
		for _, counts := range groups {
			bins, drawn = bins[:0], append(drawn, make([]float64, len(shares)))
			for row := range int(floats.Sum(counts)) {
				var bin int
				if row > 0 && !math.IsInf(own, 1) && random.Float64()*(own+float64(row)) >= own {
					bin = bins[random.IntN(row)]
				} else {
					bin = min(len(shares)-1, sort.SearchFloat64s(rising, random.Float64()*rising[len(rising)-1]))
				}
				bins = append(bins, bin)
				drawn[len(drawn)-1][bin]++
			}
		}
		return drawn
	}
	again := &groupedCounts{}
	for y, groups := range g.source {
		again.source = append(again.source, draw(groups, ofClass[y], g.alike[0]))
	}
	again.target = draw(g.target, target, g.alike[1])
	return again.effective()
}
