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
// rejected less. Few groups of unequal size, one in ten of which is four times as large, are no reason to either.
func TestGroupsAreNoShift(t *testing.T) {
	const k = 2
	for _, of := range []struct {
		draws, most, groups, size int // most: more rejections than so many happen once in a hundred times
		uneven                    bool
	}{{120, 13, 60, 10, false}, {200, 17, 20, 30, true}} {
		draws, groups, size := of.draws, of.groups, of.size
		for _, kind := range []struct {
			common float64
			alike  bool
		}{{0, true}, {0.5, false}, {0.5, true}} {
			common, alike := kind.common, kind.alike
			random := rand.New(rand.NewPCG(31, 32))
			rejected, alone := map[string]int{}, 0
			for seed := range uint64(draws) {
				p := gaussians.Rising(k)
				if !of.uneven {
					p.Separation = []float64{1.5, 1.5}
				}
				p.Size, p.Common, p.Alike, p.Uneven = size, common, alike, of.uneven || seed%2 == 0
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
			for test, times := range rejected {
				if times > of.most {
					t.Errorf("%d groups, common %v, of one class %v: the test of %s rejects %d of %d", groups, common, alike, test, times, draws)
				}
			}
			if common > 0 && alone < draws/4 {
				t.Errorf("of one class %v: the test of rows rejects %d of %d: the draws say nothing of groups", alike, alone, draws)
			}
		}
	}
}
