package main

import (
	"fmt"
	"math"

	"iwda/internal/gaussians"
	"iwda/weightest"
	"iwda/weightest/shifttest"
)

const rejectionsHead = `| k | n, m | draws | target | χ² of hard predictions | Kolmogorov-Smirnov | not label shift |
| --- | --- | --- | --- | --- | --- | --- |`

// measureRejections returns in how many percent of the draws each test rejects at 5%.
func measureRejections(c cell, draws int) ([]string, error) {
	var lines []string
	for _, target := range []struct {
		name     string
		shifted  bool
		rotation float64
	}{
		{"like the source", false, 0},
		{"label shift", true, 0},
		{"rotated by 10°", false, 10},
		{"rotated by 20°", false, 20},
		{"label shift, rotated by 20°", true, 20},
	} {
		problem := gaussians.Rising(c.classes)
		problem.Rotation = target.rotation * math.Pi / 180
		if !target.shifted {
			problem.Target = problem.Source
		}
		var rejected [3]float64
		for seed := range draws {
			sample, err := c.draw(problem, seed)
			if err != nil {
				return nil, err
			}
			values, err := pValues(sample, uint64(seed))
			if err != nil {
				return nil, err
			}
			for i, p := range values {
				switch {
				case math.IsNaN(p):
					rejected[i] = p
				case p < shifttest.Significance:
					rejected[i] += 100 / float64(draws)
				}
			}
		}
		line := fmt.Sprintf("| %d | %s | %d | %s |", c.classes, c.rows(), draws, target.name)
		for _, share := range rejected {
			line += " " + percent(share) + " |"
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// percent prints a share in percent, and a dash for one that is not known.
func percent(share float64) string {
	if math.IsNaN(share) {
		return "–"
	}
	return fmt.Sprintf("%.1f", share)
}

// pValues returns those of all tests, NaN for one that could not be made.
func pValues(s *weightest.Sample, seed uint64) ([3]float64, error) {
	counts, err := shifttest.ChiSquaredTest(s.Sums())
	if err != nil {
		return [3]float64{}, err
	}
	probabilities, err := shifttest.KolmogorovSmirnovTest(s)
	if err != nil {
		return [3]float64{}, err
	}
	shift, err := shifttest.LabelShiftTest(s, shifttest.LabelShiftSettings{Seed: seed})
	if !shift.Tested() {
		shift.P = math.NaN()
	}
	return [3]float64{counts.P, probabilities.P, shift.P}, err
}
