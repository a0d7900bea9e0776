package figure

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"iwda/experiments/report/summary"
)

// A point stands for each task, in the colour of its shift, a bar for each mean,
// and a choice far off stays within the panel.
func TestCriteria(t *testing.T) {
	folder := t.TempDir()
	figure, err := Criteria(summary.Criteria{
		Experiment: "digits",
		Choices: []summary.Choice{
			{Criterion: "target-risk", Chosen: 80, Best: 80.5, JSD: 0.001}, {Criterion: "target-risk", Chosen: 60, Best: 60, JSD: 0.05},
			{Criterion: "im", Chosen: 20, Best: 78, JSD: 0.5}, {Criterion: "ensv", Chosen: 80, Best: 80, JSD: math.NaN()},
			{Criterion: "unlabelled", Chosen: math.NaN(), Best: math.NaN(), JSD: math.NaN()},
		},
	})
	if err != nil || figure.Name != "selection" {
		t.Fatal(figure.Name, err)
	}
	path := filepath.Join(folder, "a.svg")
	drawTo(t, figure, path)
	texts := svgTexts(t, path)
	for label, times := range map[string]int{"target-risk": 1, "im": 1, "ensv": 1, "-20": 1, "-60": 0, "unlabelled": 0, "run chosen: points above the best": 1} {
		if got := strings.Count(texts, "\n"+label+"\n"); got != times {
			t.Errorf("label %q %d times, want %d, in%s", label, got, times, texts)
		}
	}
	drawing := string(read(t, path))
	for hue, times := range map[string]int{"#999999": 2, "#56B4E9": 2, "#D55E00": 3} { // each once in the legend too
		if got := strings.Count(drawing, "fill:"+hue); got != times {
			t.Errorf("%d shapes of %s, want %d", got, hue, times)
		}
	}
	if _, err := Criteria(summary.Criteria{}); !errors.Is(err, ErrNoData) {
		t.Errorf("of nothing: %v", err)
	}
}
