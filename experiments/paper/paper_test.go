package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"iwda/experiments/config"
)

func ExampleAccuracy() {
	percent, ok := Accuracy("digits", "subsampled", "usps-mnist", "iwdan")
	fmt.Println(percent, ok)
	percent, ok = Accuracy("digits", "subsampled", Average, "iwdan")
	fmt.Println(percent, ok)
	_, ok = Accuracy("glyphs", "subsampled", Average, "iwdan")
	fmt.Println(ok)
	// Output:
	// 93.32 true
	// 92.54 true
	// false
}

func TestLookups(t *testing.T) {
	for _, test := range []struct {
		dataset, variant, task, method string
		accuracy, wins                 float64
	}{
		{"digits", "full", "mnist-usps", "iwcdan", 94.36, 60},
		{"digits", "full", Average, "iwcdan", 95.9, 80},
		{"digits", "subsampled", "mnist-usps", "dann", 79.03, -1},
		{"digits", "subsampled", "mnist-usps", "dann+wc", -1, -1},
		{"digits", "subsampled", Average, "dann+wc", 84.2, -1},
		{"digits", "subsampled", Average, "dann+wc-o", 84.52, -1},
		{"visda", "subsampled", "synthetic-real", "iwjan-o", 61.3, 100},
		{"office31", "full", "webcam-dslr", "iwdan-o", 99.92, 100},
		{"officehome", "subsampled", "real-product", "source-only", 70, -1},
		{"officehome", "full", "real-art", "iwcdan", 69.48, 0},
		{"digits", "full", "usps-usps", "dann", -1, -1},
		{"digits", "half", "usps-mnist", "dann", -1, -1},
		{"digits", "full", Average, "jan", -1, -1},
	} {
		check := func(what string, got float64, ok bool, want float64) {
			if ok != (want >= 0) || ok && got != want {
				t.Errorf("%s of %+v: got %v, %v", what, test, got, ok)
			}
		}
		got, ok := Accuracy(test.dataset, test.variant, test.task, test.method)
		check("accuracy", got, ok, test.accuracy)
		got, ok = Wins(test.dataset, test.variant, test.task, test.method)
		check("wins", got, ok, test.wins)
	}
	if note := Note("office31", "subsampled", "iwjan"); !strings.Contains(note, "order") {
		t.Errorf("note of reordered columns: %q", note)
	}
	if note := Note("office31", "full", "iwjan"); note != "" {
		t.Errorf("note without cause: %q", note)
	}
}

// TestConsistency compares every printed average with its columns, where a slip in
// copying would show. An average may be off by half a unit of its last place; that
// of rounded accuracies by half a unit more.
func TestConsistency(t *testing.T) {
	for dataset, variants := range tables() {
		for variant, table := range variants {
			if len(table.JSD) != len(table.Tasks) {
				t.Errorf("%s %s: %d divergences for %d tasks", dataset, variant, len(table.JSD), len(table.Tasks))
			}
			for method, r := range table.Methods {
				name := strings.Join([]string{dataset, variant, method}, " ")
				preset, known := config.ParseMethod(method)
				if !known || preset.Name != method {
					t.Errorf("%s: no such method", name)
				}
				if preset.Base() == "" && (r.Wins != nil || r.AverageWins != nil) {
					t.Errorf("%s has wins but no base", name)
				}
				checkAverage(t, name, table.Tasks, r.Accuracy, r.Average, 0.01+1e-9)
				if r.AverageWins != nil {
					checkAverage(t, name+" wins", table.Tasks, r.Wins, *r.AverageWins, 0.5)
				}
			}
		}
	}
}

func checkAverage(t *testing.T, name string, tasks []string, values []float64, average, tolerance float64) {
	t.Helper()
	if len(values) == 0 {
		return
	}
	if len(values) != len(tasks) {
		t.Errorf("%s: %d values for %d tasks", name, len(values), len(tasks))
		return
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / float64(len(values))
	if math.Abs(mean-average) > tolerance {
		t.Errorf("%s: mean of the columns %.4f, printed %v", name, mean, average)
	}
}

// TestDivergences derives every printed divergence from the label counts.
func TestDivergences(t *testing.T) {
	for dataset, variants := range tables() {
		for variant := range variants {
			for _, task := range Tasks(dataset, variant) {
				source, target, _ := strings.Cut(task, "-")
				p, q := published(t, dataset, source).Train, published(t, dataset, target).Train
				if len(p) == 0 || len(p) != len(q) {
					t.Fatalf("%s %s: counts of %d and %d classes", dataset, task, len(p), len(q))
				}
				if variant == "subsampled" {
					for c := range len(p) / 2 {
						p[c] = p[c] * 3 / 10
					}
				}
				printed, ok := at(variants[variant].JSD, slices.Index(variants[variant].Tasks, task))
				if got := fmt.Sprintf("%.2e", divergence(p, q)); !ok || got != fmt.Sprintf("%.2e", printed) {
					t.Errorf("%s %s %s: got %s, printed %v", dataset, variant, task, got, printed)
				}
			}
		}
	}
}

// divergence is the Jensen-Shannon divergence of two histograms.
func divergence(a, b []int) float64 {
	sumA, sumB := 0, 0
	for c := range a {
		sumA += a[c]
		sumB += b[c]
	}
	total := 0.0
	for c := range a {
		p, q := float64(a[c])/float64(sumA), float64(b[c])/float64(sumB)
		m := (p + q) / 2
		total += p*math.Log(p/m)/2 + q*math.Log(q/m)/2
	}
	return total
}
