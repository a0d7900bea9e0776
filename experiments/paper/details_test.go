package paper

import (
	"fmt"
	"math"
	"testing"

	"iwda/datasets/catalogue"
	"iwda/internal/must"
)

// published returns what is known of a domain.
func published(t *testing.T, dataset, domain string) catalogue.Domain {
	t.Helper()
	data := must.Have(catalogue.Find(dataset))(t)
	return must.Have(data.Domain(domain))(t)
}

func ExampleWeights() {
	estimate, ok := Weights("digits", "subsampled", "usps-mnist", "iwdan")
	fmt.Println(estimate.Weights[3], estimate.Distance, ok)
	fmt.Println(TrueWeights("digits", "subsampled", "usps-mnist")[3])
	// Output:
	// 1.96 0.38 true
	// 2.24
}

// TestWeightsConsistency recomputes what the printed weights imply: the true ones
// from the label counts, the distances from the weights.
func TestWeightsConsistency(t *testing.T) {
	source, target := published(t, "digits", "usps").Train, published(t, "digits", "mnist").Train
	for c := range 5 {
		source[c] = source[c] * 3 / 10
	}
	sourceTotal, targetTotal := 0, 0
	for c := range source {
		sourceTotal += source[c]
		targetTotal += target[c]
	}
	truth := TrueWeights("digits", "subsampled", "usps-mnist")
	for c, printed := range truth {
		weight := float64(target[c]) / float64(targetTotal) / (float64(source[c]) / float64(sourceTotal))
		if math.Abs(weight-printed) > 0.0054 { // 0.66 is printed for 0.6653
			t.Errorf("true weight of class %d: printed %v, the counts give %.4f", c, printed, weight)
		}
	}
	for _, method := range []string{"source-only", "dann", "iwdan", "iwdan-o"} {
		estimate, ok := Weights("digits", "subsampled", "usps-mnist", method)
		if !ok || len(estimate.Weights) != len(truth) {
			t.Fatalf("%s: %v, %v", method, estimate, ok)
		}
		sum := 0.0
		for c, w := range estimate.Weights {
			sum += (w - truth[c]) * (w - truth[c])
		}
		if distance := math.Sqrt(sum); math.Abs(distance-estimate.Distance) > 0.021 { // 0.12 is printed where the weights give 0.140
			t.Errorf("%s: printed distance %v, its weights give %.3f", method, estimate.Distance, distance)
		}
	}
	if _, ok := Weights("digits", "full", "usps-mnist", "dann"); ok {
		t.Error("weights of a task that the paper does not print")
	}
}

// TestConfusionConsistency: rows sum to 100, and with the classes of the test set
// the diagonal gives the printed accuracy, or up to 0.92 less: the paper's tables and
// their captions differ that much.
func TestConfusionConsistency(t *testing.T) {
	counts := published(t, "digits", "mnist").Test
	for _, method := range []string{"source-only", "dann", "iwdan", "iwdan-o"} {
		table, ok := Confusion("digits", "subsampled", "usps-mnist", method)
		if !ok || len(table.Percent) != len(counts) {
			t.Fatalf("%s: %v, %v", method, table, ok)
		}
		right, total := 0.0, 0
		for c, row := range table.Percent {
			sum := 0.0
			for _, percent := range row {
				sum += percent
			}
			if len(row) != len(counts) || math.Abs(sum-100) > 0.06 {
				t.Errorf("%s: row %d of %d columns sums to %v", method, c, len(row), sum)
			}
			right += row[c] * float64(counts[c])
			total += counts[c]
		}
		if accuracy := right / float64(total); math.Abs(accuracy-table.Accuracy) > 0.92 {
			t.Errorf("%s: printed accuracy %v, the diagonal gives %.2f", method, table.Accuracy, accuracy)
		}
	}
}

func TestGains(t *testing.T) {
	gain, ok := Gains("digits", "mnist-usps", "iwcdan")
	if !ok || gain.Mean != 2.25 || gain.TasksWon == nil || *gain.TasksWon != 94 {
		t.Errorf("iwcdan: %+v, %v", gain, ok)
	}
	if gain, ok := Gains("digits", "mnist-usps", "iwcdan-o"); !ok || gain.Mean != 2.81 || gain.TasksWon != nil {
		t.Errorf("iwcdan-o: %+v, %v", gain, ok)
	}
	if _, ok := Gains("digits", "usps-mnist", "iwdan"); ok {
		t.Error("a task without a figure has gains")
	}
}
