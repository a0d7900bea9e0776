package calibration

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/weightest"
	"iwda/weightest/internal/weighttest"
)

// BenchmarkLabelShift measures the way from logits to weights, bias-corrected
// temperature scaling and MLLS, for 10,000 held-out source rows and 10,000 target rows.
// Where $IWDA_BENCH_PROBLEMS names a folder, the rows go there with our weights, for
// research/bench/labelshift_peer.py.
func BenchmarkLabelShift(b *testing.B) {
	const rows = 10000
	for _, k := range []int{10, 100} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			r := rand.New(rand.NewPCG(20, uint64(k)))
			source, labels := weighttest.ShiftedLogits(r, rows, slices.Repeat([]float64{1 / float64(k)}, k))
			target, _ := weighttest.ShiftedLogits(r, rows, weighttest.Distribution(r, k))
			var estimate weightest.Estimate
			for b.Loop() {
				c, err := Calibrate("bcts", source, labels, k)
				if err != nil || c.Note != "" {
					b.Fatal(c.Note, err)
				}
				s := must.Have(weightest.SampleOf(k, c.Probabilities(source), labels, c.Probabilities(target)))(b)
				estimate = must.Have((weightest.MLLS{}).Estimate(must.Have(s.Problem())(b)))(b)
			}
			if folder := os.Getenv("IWDA_BENCH_PROBLEMS"); folder != "" {
				writeShift(b, filepath.Join(folder, "labelshift-"+strconv.Itoa(k)), source, labels, target, estimate.Weights)
			}
		})
	}
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
		must.Do(b, binary.Write(&file, binary.LittleEndian, values))
	}
	testfiles.Write(b, path, file.String())
}
