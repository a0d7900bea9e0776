package weightest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// BenchmarkSolveQPs measures a solution, from the statistics to the weights: the mean
// over one problem of each kind of BenchmarkSolveQP. Where $IWDA_BENCH_PROBLEMS names a
// folder, the problems go there with our solutions, for research/bench/qp_peer.py.
func BenchmarkSolveQPs(b *testing.B) {
	random := rand.New(rand.NewPCG(10, 10))
	for _, k := range []int{10, 65, 345} {
		problems := []Problem{
			randomProblem(random, k, 0.7, 0),
			randomProblem(random, k, 0.5, 0.5),
			randomProblem(random, k, 0.02, 1),
		}
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			solutions := make([]Estimate, len(problems))
			for b.Loop() {
				for i, p := range problems {
					var err error
					if solutions[i], err = (QP{}).Estimate(p); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N*len(problems)), "ms")
			if folder := os.Getenv("IWDA_BENCH_PROBLEMS"); folder != "" {
				writeSolved(b, filepath.Join(folder, strconv.Itoa(k)+".json"), problems, solutions)
			}
		})
	}
}

func writeSolved(b *testing.B, path string, problems []Problem, solutions []Estimate) {
	b.Helper()
	type solved struct {
		Confusion [][]float64 `json:"confusion"`
		Mu        []float64   `json:"mu"`
		Source    []float64   `json:"source"`
		Weights   []float64   `json:"weights"`
	}
	var all []solved
	for i, p := range problems {
		s := solved{Mu: p.TargetPredictions, Source: p.SourceDistribution, Weights: solutions[i].Weights}
		for row := range p.Classes() {
			s.Confusion = append(s.Confusion, mat.Row(nil, row, p.Confusion))
		}
		all = append(all, s)
	}
	text := must.Have(json.Marshal(all))(b)
	testfiles.Write(b, path, string(text))
}
