package figure

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"iwda/experiments/report/summary"
)

// A point stands for each run and each task, in the colour of its shift, a bar for each mean,
// and a choice far off stays within the panel.
func TestCriteria(t *testing.T) {
	folder := t.TempDir()
	figure, err := Criteria(summary.Criteria{
		Experiment: "digits",
		Epochs: []summary.EpochChoice{
			{Criterion: "guarded-risk", Each: []summary.EpochOutcome{{Chosen: 80, Last: 78, JSD: 0.001}, {Chosen: 60, Last: 60, JSD: 0.05}}},
			{Criterion: "im", Each: []summary.EpochOutcome{{Chosen: 20, Last: 78, JSD: 0.5}}},
		},
		Runs: []summary.RunChoice{{Criterion: "im", Chosen: 78, Best: 80, JSD: 0.5}, {Criterion: "ensv", Chosen: 80, Best: 80, JSD: math.NaN()}},
	})
	if err != nil || figure.Name != "selection" {
		t.Fatal(figure.Name, err)
	}
	path := filepath.Join(folder, "a.svg")
	drawTo(t, figure, path)
	texts := svgTexts(t, path)
	for label, times := range map[string]int{"guarded-risk": 2, "im": 2, "ensv": 2, "-20": 1, "-60": 0, "epoch chosen: points above the last": 1} {
		if got := strings.Count(texts, "\n"+label+"\n"); got != times {
			t.Errorf("label %q %d times, want %d, in%s", label, got, times, texts)
		}
	}
	drawing := string(read(t, path))
	for hue, times := range map[string]int{"#999999": 2, "#56B4E9": 2, "#D55E00": 4} { // each once in the legend too
		if got := strings.Count(drawing, "fill:"+hue); got != times {
			t.Errorf("%d shapes of %s, want %d", got, hue, times)
		}
	}
	if _, err := Criteria(summary.Criteria{}); !errors.Is(err, ErrNoData) {
		t.Errorf("of nothing: %v", err)
	}
}
