package shifttest

import (
	"math/rand/v2"
	"testing"

	"iwda/internal/gaussians"
	"iwda/internal/must"
	"iwda/weightest"
)

// If only class shares differ, or nothing does, tests reject rows in groups hardly more often than they say, and
// those that take rows to be on their own do. Unlike groups whose rows have nothing in common, which are not
// rejected less.
func TestGroupsAreNoShift(t *testing.T) {
	const draws, groups, size, k = 120, 60, 10, 2
	for _, common := range []float64{0, 0.5} {
		for _, alike := range []bool{false, true} {
			if common == 0 && !alike { // rows on their own
				continue
			}
			random := rand.New(rand.NewPCG(31, 32))
			rejected, alone := map[string]int{}, 0
			for seed := range uint64(draws) {
				p := gaussians.Rising(k)
				p.Separation = []float64{1.5, 1.5}
				p.Size, p.Common, p.Alike, p.Uneven = size, common, alike, seed%2 == 0
				source, target := p.DrawSource(groups*size, random), p.DrawTarget(groups*size, random)
				p.Target = p.Source
				same := p.DrawTarget(groups*size, random)
				sample := func(of gaussians.Drawn, grouped bool) *weightest.Sample {
					s := must.Have(weightest.SampleOf(k, source.Probabilities, source.Labels, of.Probabilities))(t)
					if grouped {
						s.Group(source.Groups, of.Groups)
					}
					return s
				}
				shift := labelShift(t, sample(target, true), LabelShiftSettings{Seed: seed, Resamples: 99})
				means := must.Have(MeansTest(sample(same, true)))(t)
				distances := must.Have(KolmogorovSmirnovTest(sample(same, true)))(t)
				problem := must.Have(sample(target, true).Problem())(t)
				estimate := must.Have(weightest.MLLS{}.Estimate(problem))(t)
				columns := must.Have(NewColumnSums(sample(target, true), estimate.TargetDistribution, 2))(t)
				narrow := func(wide []float64) (values []float32) {
					for _, v := range wide {
						values = append(values, float32(v))
					}
					return values
				}
				columns.AddSource(narrow(source.Probabilities), source.Labels, source.Groups)
				columns.AddTarget(narrow(target.Probabilities))
				found := must.Have(columns.Test())(t)
				for test, p := range map[string]float64{"label shift": shift.P, "means": means.P, "Kolmogorov-Smirnov": distances.P, "columns": found.P} {
					if p < Significance {
						rejected[test]++
					}
				}
				if rows, err := MeansTest(sample(same, false)); err != nil {
					t.Fatal(err)
				} else if rows.P < Significance {
					alone++
				}
			}
			// Of 120 draws 6 are meant, and 13 or more happen once in a hundred times.
			for test, times := range rejected {
				if times > 13 {
					t.Errorf("common %v, of one class %v: the test of %s rejects %d of %d", common, alike, test, times, draws)
				}
			}
			if common > 0 && alone < draws/4 {
				t.Errorf("of one class %v: the test of rows rejects %d of %d: the draws say nothing of groups", alike, alone, draws)
			}
		}
	}
}
