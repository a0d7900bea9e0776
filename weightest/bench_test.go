package weightest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/timing"
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
			solutions := make([]Solution, len(problems))
			timing.ReportMedian(b, len(problems), func(int) {
				for i, p := range problems {
					var err error
					if solutions[i], err = SolveQP(p, QPSettings{}); err != nil {
						b.Fatal(err)
					}
				}
			})
			if folder := os.Getenv("IWDA_BENCH_PROBLEMS"); folder != "" {
				writeSolved(b, filepath.Join(folder, strconv.Itoa(k)+".json"), problems, solutions)
			}
		})
	}
}

func writeSolved(b *testing.B, path string, problems []Problem, solutions []Solution) {
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
	text, err := json.Marshal(all)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLabelShift measures the way from logits to weights, bias-corrected
// temperature scaling and MLLS, for 10,000 held-out source rows and 10,000 target rows.
// Where $IWDA_BENCH_PROBLEMS names a folder, the rows go there with our weights, for
// research/bench/labelshift_peer.py.
func BenchmarkLabelShift(b *testing.B) {
	const rows = 10000
	for _, k := range []int{10, 100} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			r := rand.New(rand.NewPCG(20, uint64(k)))
			source, labels := shiftedLogits(r, rows, k, uniform(k))
			target, _ := shiftedLogits(r, rows, k, randomDistribution(r, k))
			var solution MLLSSolution
			timing.ReportMedian(b, 1, func(int) {
				calibration, err := Calibrate("bcts", source, labels, k)
				if err != nil || calibration.Note != "" {
					b.Fatal(calibration.Note, err)
				}
				s, err := NewCalibratedSample(calibration, source, labels, target)
				if err != nil {
					b.Fatal(err)
				}
				if solution, err = MLLS(problem(b, s), MLLSSettings{}); err != nil {
					b.Fatal(err)
				}
			})
			if folder := os.Getenv("IWDA_BENCH_PROBLEMS"); folder != "" {
				writeShift(b, filepath.Join(folder, "labelshift-"+strconv.Itoa(k)), source, labels, target, solution.Weights)
			}
		})
	}
}

func uniform(k int) []float64 {
	d := make([]float64, k)
	for j := range d {
		d[j] = 1 / float64(k)
	}
	return d
}

// shiftedLogits draws labels and the logits of an over-confident, biased classifier,
// which is right in about two thirds of the rows.
func shiftedLogits(r *rand.Rand, rows, k int, distribution []float64) (logits []float64, labels []int) {
	logits, labels = make([]float64, rows*k), make([]int, rows)
	signal := 0.5 + math.Sqrt(2*math.Log(float64(k)))
	for i := range labels {
		u := r.Float64()
		for u -= distribution[labels[i]]; u > 0 && labels[i] < k-1; u -= distribution[labels[i]] {
			labels[i]++
		}
		for j := range k {
			logits[i*k+j] = 2 * signal * (r.NormFloat64() + float64(j%5)/5)
		}
		logits[i*k+labels[i]] += 2 * signal * signal
	}
	return logits, labels
}

// writeShift writes everything as float64, one array after the other.
func writeShift(b *testing.B, path string, source []float64, labels []int, target, weights []float64) {
	b.Helper()
	classes := make([]float64, len(labels))
	for i, label := range labels {
		classes[i] = float64(label)
	}
	var file bytes.Buffer
	for _, values := range [][]float64{source, classes, target, weights} {
		if err := binary.Write(&file, binary.LittleEndian, values); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLabelShiftTest asks of many classes, most of which have few held-out rows, whether
// shares alone explain a target on which the classifier is less sure of itself.
func BenchmarkLabelShiftTest(b *testing.B) {
	for _, k := range []int{10, 100, 300} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			r := rand.New(rand.NewPCG(21, uint64(k)))
			source, labels := shiftedLogits(r, 3*k, k, uniform(k))
			target, _ := shiftedLogits(r, 6000, k, randomDistribution(r, k))
			floats.Scale(0.8, target)
			s := NewSample(k)
			for first := 0; first < len(source); first += k {
				softmax(source[first : first+k])
			}
			for first := 0; first < len(target); first += k {
				softmax(target[first : first+k])
			}
			if err := errors.Join(s.AddSource(source, labels), s.AddTarget(target)); err != nil {
				b.Fatal(err)
			}
			timing.ReportMedian(b, 1, func(int) {
				if l, err := LabelShiftTest(s, LabelShiftSettings{}); err != nil || l.P > 0.01 {
					b.Fatal(l, err)
				}
			})
		})
	}
}

func softmax(row []float64) {
	sum := floats.LogSumExp(row)
	for i, v := range row {
		row[i] = math.Exp(v - sum)
	}
}
