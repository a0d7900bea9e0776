package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"iwda/internal/gaussians"
	"iwda/weightest"
)

// cell is a size of the problem: k classes, and the rows of both domains.
type cell struct{ classes, source, target int }

var cells = []cell{
	{2, 200, 200}, {2, 1000, 1000}, {2, 5000, 5000},
	{10, 40, 400}, {10, 80, 400}, {10, 150, 1500}, // as where a tenth or a fifth of a source is held out
	{10, 200, 200}, {10, 1000, 1000}, {10, 5000, 5000},
}

func (c cell) String() string { return fmt.Sprintf("k=%d n=%s", c.classes, c.rows()) }

// rows are those of a domain, or of the source and the target where they differ.
func (c cell) rows() string {
	if c.source == c.target {
		return strconv.Itoa(c.source)
	}
	return fmt.Sprintf("%d, %d", c.source, c.target)
}

// draw returns the sample of a seed.
func (c cell) draw(p gaussians.Problem, seed int) (*weightest.Sample, error) {
	random := rand.New(rand.NewPCG(uint64(seed), uint64(c.classes*c.target)))
	sample := weightest.NewSample(c.classes)
	if err := sample.AddSource(p.SourceRows(c.source, random)); err != nil {
		return nil, err
	}
	return sample, sample.AddTarget(p.TargetRows(c.target, random))
}
