package adapt

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/predict"
	"iwda/experiments/model"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// Nine of ten rows of each class have it in their set, whatever the class shares are, in the predictions of adapt and
// in those of its model. Models that sets were not made for say so.
func TestSets(t *testing.T) {
	folder, random, classes := t.TempDir(), rand.New(rand.NewPCG(8, 9)), []string{"ant", "bee", "cow"}
	truth := map[string]string{}
	for name, counts := range map[string][]int{"source": {400, 300, 200}, "target": {100, 300, 1200}} {
		text := "id,x,y,label\n"
		for class, n := range counts {
			for i := range n {
				id, label := fmt.Sprintf("%d-%d", class, i), classes[class]
				if name == "target" {
					truth[id], label = label, ""
				}
				text += fmt.Sprintf("%s,%.4f,%.4f,%s\n", id, random.NormFloat64()+float64(class), random.NormFloat64()-float64(class%2), label)
			}
		}
		testfiles.Write(t, filepath.Join(folder, name+".csv"), text)
	}
	target := filepath.Join(folder, "target.csv")
	o := Options{Folder: filepath.Join(folder, "out"), Sets: 0.9}
	must.Have(runHere(context.Background(), filepath.Join(folder, "source.csv"), target, o))(t)
	covered := func(path string, low, high float64) {
		t.Helper()
		all := lines(t, path)
		at := slices.Index(strings.Split(all[0], ","), "set")
		right, rows := map[string]float64{}, map[string]float64{}
		for _, line := range all[1:] {
			cells := strings.Split(line, ",")
			class := truth[cells[0]]
			if rows[class]++; slices.Contains(strings.Split(cells[at], " | "), class) {
				right[class]++
			}
		}
		for class, n := range rows { // three standard deviations of both domains' chance
			if share := right[class] / n; share < low || share > high {
				t.Errorf("%s: %.3f of %v rows of class %s have it in their set", path, share, n, class)
			}
		}
	}
	covered(filepath.Join(o.Folder, names.Predictions), 0.8, 0.98)
	again := filepath.Join(folder, "again.csv")
	write := func(models []model.Model, level float64) error {
		request := predict.Request{Inputs: []string{target}, Shares: predict.ModelShares, Output: again, Sets: level}
		_, err := predict.Write(context.Background(), models, request, predict.Options{Torch: iwrunTorch})
		return err
	}
	models := must.Have(model.Trust{}.OpenEnsemble(o.Folder))(t)
	must.Do(t, write(models, 0.8))
	covered(again, 0.68, 0.92)
	must.Fail(t, write(models, 0.7), "have sets of the levels [0.8 0.9 0.95 0.99]")
	// What could not have sets in the end is an error before it is trained.
	o.Folder, o.Set = filepath.Join(folder, "steps"), []string{"methods=[source-only]", "selection.alike=[source-only]"}
	if _, err := NewPlan([]string{filepath.Join(folder, "source.csv")}, target, o); !errors.Is(err, predict.ErrNoSets) {
		t.Error(err)
	}
	models[0].Sets = nil
	must.Fail(t, write(models, 0.8), "there are no sets of classes by these models")
}
