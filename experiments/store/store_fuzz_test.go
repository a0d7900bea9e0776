package store

import (
	"encoding/json"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"iwda/internal/allocation"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

func encoded(t testing.TB, result Result) []byte {
	t.Helper()
	return must.Have(json.Marshal(result))(t)
}

// A result that is read can be written, and reads the same again.
func FuzzParseResult(f *testing.F) {
	whole := encoded(f, sampleResult("iwdan", 1))
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(`{"id": "a",\n"weights": [1e999]}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var result Result
		var err error
		allocation.Within(t, min(1<<20+400*len(text), allocation.Allowed(len(text))), func() {
			if result, err = parseResult(text); err == nil {
				err = NewDir("", result.Experiment, result.ID).check(result)
			}
		})
		if err != nil {
			return
		}
		first := encoded(t, result)
		again, err := parseResult(first)
		if err != nil {
			t.Fatalf("%s is read, but not %s: %v", text, first, err)
		}
		if second := encoded(t, again); string(second) != string(first) {
			t.Errorf("%s reads as %s", first, second)
		}
	})
}

// fuzzCSV checks that what is read, written and read again is the same, and that errors
// name the file.
func fuzzCSV[T any](t *testing.T, text string, parse func(string, io.Reader) ([]T, error), format func([]T) string) {
	t.Helper()
	var rows []T
	var err error
	allocation.Within(t, min(1<<20+400*len(text), allocation.Allowed(len(text))), func() { rows, err = parse("f.csv", strings.NewReader(text)) })
	if err != nil {
		if !strings.HasPrefix(err.Error(), "f.csv:") {
			t.Errorf("error %q does not name the file", err)
		}
		return
	}
	first := format(rows)
	again, err := parse("f.csv", strings.NewReader(first))
	if err != nil {
		t.Fatalf("%q is read, but not %q: %v", text, first, err)
	}
	if second := format(again); second != first {
		t.Errorf("%q reads as %q", first, second)
	}
}

func FuzzParseMetrics(f *testing.F) {
	f.Add(MetricsLines.Format([]Metrics{{Epoch: 1, Step: 2, Accuracy: Measured(1. / 3), DomainLoss: math.NaN(), TotalLoss: math.Inf(1)}}))
	f.Add("epoch,step\n1,2\n")
	f.Add("\"")
	f.Fuzz(func(t *testing.T, text string) { fuzzCSV(t, text, MetricsLines.Parse, MetricsLines.Format) })
}

func FuzzParseWeights(f *testing.F) {
	f.Add(WeightsLines.Format([]WeightUpdate{{Epoch: 1, Step: 2, Weights: []float64{0.5, math.NaN()}, Note: "a, \"b\"\nc"}}))
	f.Add(WeightsLines.Format(nil))
	f.Add("epoch,step,weight_1,distance\n")
	f.Fuzz(func(t *testing.T, text string) { fuzzCSV(t, text, WeightsLines.Parse, WeightsLines.Format) })
}

// Logits that are read are whole rows with a label each where they were held out.
func FuzzParseOutputs(f *testing.F) {
	dir := NewDir(f.TempDir(), "points", "full/a-b/dann/seed-1")
	must.Do(f, dir.Begin())
	must.Do(f, dir.WriteOutputs(Outputs{Classes: 2, HeldOut: []float32{1, 2}, HeldOutLabels: []int{1}, Target: []float32{1, 2, 3, 4}, TargetLabels: []int{0, 1}}))
	whole := testfiles.Read(f, dir.Path(OutputsFile))
	f.Add(whole)
	crossed := Outputs{Classes: 2, HeldOut: []float32{1, 2}, HeldOutLabels: []int{1}, Target: []float32{1, 2, 3, 4}, TargetCrossed: []float32{5, 6, 7, 8}, TargetLabels: []int{0, 1}}
	must.Do(f, dir.WriteOutputs(crossed))
	whole = testfiles.Read(f, dir.Path(OutputsFile))
	f.Add(whole)
	if read, err := parseOutputs(whole); err != nil || !reflect.DeepEqual(read, crossed) || !slices.Equal(read.Compared(), crossed.TargetCrossed) {
		f.Errorf("%+v, %v", read, err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		allocation.Within(t, allocation.Allowed(len(text)), func() {
			o, err := parseOutputs(text)
			if err != nil {
				return
			}
			if o.Classes < 1 || len(o.HeldOut) != o.Classes*len(o.HeldOutLabels) || len(o.Target) != o.Classes*len(o.TargetLabels) || len(o.Compared()) != len(o.Target) || len(o.Target) > len(text) {
				t.Errorf("%d classes, %d and %d logits, %d and %d labels", o.Classes, len(o.HeldOut), len(o.Target), len(o.HeldOutLabels), len(o.TargetLabels))
			}
		})
	})
}
