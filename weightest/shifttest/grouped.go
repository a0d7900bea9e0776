package shifttest

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/clusters"
	"iwda/internal/evenly"
	"iwda/weightest"
)

// groupedCounts are numbers of rows in bins, of each group by itself.
type groupedCounts struct {
	source [][][]float64 // of each class, groups×bins
	target [][]float64   // groups×bins
	number [][]int       // of the source's groups, in each class
	groups int           // of the source
}

// effective are the counts of all groups, each class's and the target's divided by how much more such a sum
// varies than one of rows that are each on their own (Rao and Scott 1981): 1 + ρ(Σn²/Σn - 1), n the sizes of
// groups. The correlation ρ of two rows of a group is that of the sums of squares between groups, in the
// source of all classes together.
func (g *groupedCounts) effective() binnedCounts {
	c := binnedCounts{grouped: g}
	divided := func(groups [][]float64, alike float64) []float64 {
		sum, sizes := total(groups)
		for bin, rows := range sum {
			sum[bin] = max(0, rows) // that of a resample may be negative
		}
		if rows := floats.Sum(sum); rows > 0 {
			floats.Scale(1/(1+alike*(floats.Dot(sizes, sizes)/rows-1)), sum)
		}
		return sum
	}
	alike := correlation(g.source...)
	for _, groups := range g.source {
		c.source = append(c.source, divided(groups, alike))
	}
	c.target = divided(g.target, correlation(g.target))
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

// correlation is that of two rows of a group in which bins they are in, between 0 and 1, for which Pearson's sums of
// squares between groups are as expected: 1 if no class has several groups.
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
	g := &groupedCounts{source: make([][][]float64, k), number: make([][]int, k), groups: count}
	at := make([]map[int]int, k) // of each class's groups
	for y := range at {
		at[y] = make(map[int]int, count)
	}
	for i, y := range labels {
		place, known := at[y][number[i]]
		if !known {
			place = len(g.source[y])
			at[y][number[i]], g.source[y] = place, append(g.source[y], make([]float64, bins))
			g.number[y] = append(g.number[y], number[i])
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

// resample draws counts of groups of the same sizes from bins' shares of each class, and of the target: what a group
// has more in its bins than all groups have, it has again or has less, in all of its classes alike (a wild bootstrap:
// Cameron, Gelbach and Miller 2008), as much more as all have of itself ([clusters.Deviations]).
func (g *groupedCounts) resample(ofClass [][]float64, target []float64, random *rand.Rand) binnedCounts {
	draw := func(groups [][]float64, shares, signs []float64) (drawn [][]float64) {
		for i, counts := range groups {
			again := make([]float64, len(shares))
			floats.AddScaled(again, (1-signs[i])*floats.Sum(counts), shares)
			floats.AddScaled(again, signs[i], counts)
			drawn = append(drawn, again)
		}
		return drawn
	}
	signs := make([]float64, g.groups+len(g.target))
	for i := range signs {
		signs[i] = float64(2*random.IntN(2) - 1)
	}
	again := &groupedCounts{}
	for y, groups := range g.source {
		again.source = append(again.source, draw(groups, ofClass[y], evenly.Pick(signs, g.number[y])))
	}
	again.target = draw(g.target, target, signs[g.groups:])
	return again.effective()
}
