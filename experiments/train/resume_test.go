package train

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// Whatever a run is made of, it ends with the same bits when it was interrupted at
// many moments.
func TestResumeGivesTheSameBits(t *testing.T) {
	office := drawOffice(t, 2)
	text, _ := gaussians(t)
	must.Do(t, os.CopyFS(filepath.Join(office, "webcam"), os.DirFS(filepath.Join(office, "dslr"))))
	const twoOffices = "tasks=[amazon+dslr-webcam]"
	onFeatures := func(method string) config.Resolved { return resolveText(t, text, "full", method, 1, "train.epochs=2") }
	for name, test := range map[string]struct {
		run    config.Resolved
		length int // of a piece, in looks at the context
	}{
		"source-only":                   {resolve(t, "subsampled", "source-only", 1), 13},
		"dann":                          {resolve(t, "full", "dann", 1), 17},
		"iwdan":                         {resolve(t, "subsampled", "iwdan", 1), 7},
		"iwdan-o":                       {resolve(t, "subsampled", "iwdan-o", 1), 11},
		"iwdan, known shares":           {resolve(t, "subsampled", "iwdan", 1, "weights.shares=[1, 1, 2, 2, 3, 3, 4, 4, 5, 5]"), 11},
		"cdan+wc-o":                     {resolve(t, "subsampled", "cdan+wc-o", 1), 19},
		"iwcdan":                        {resolve(t, "subsampled", "iwcdan", 1), 10},
		"iwcdan, every second pass":     {resolve(t, "full", "iwcdan", 1, "weights.every=2", "train.epochs=5", "dataset.train_per_class=10"), 9},
		"iwcdan-e":                      {resolve(t, "subsampled", "iwcdan-e", 1), 14},
		"iwjan":                         {resolve(t, "subsampled", "iwjan", 1), 16},
		"iwdan, features":               {onFeatures("iwdan"), 23},
		"iwcdan, features, nesterov":    {withNesterov(onFeatures("iwcdan")), 31},
		"iwcdan, images, projection":    {resolveOffice(t, office, "full", "iwcdan", "train.steps=4", "train.eval_every=2", "discriminator.random_projection=64"), 6},
		"iwdan, restarts":               {diverging(t, 20), 15},
		"iwdan, held out":               {resolve(t, "subsampled", "iwdan", 1, "train.validation=0.2"), 12},
		"iwdan, two sources":            {twoSources(t, "iwdan", "train.validation=0.2"), 11},
		"iwcdan, images, two sources":   {resolveOffice(t, office, "full", "iwcdan", twoOffices, "train.steps=4", "train.eval_every=2", "discriminator.random_projection=64"), 6},
		"iwjan, views, two sources":     {resolveOffice(t, office, "full", "iwjan", twoOffices, "network.views=2", "train.steps=6", "train.eval_every=3"), 14},
		"iwjan, images, views in order": {resolveOffice(t, office, "full", "iwjan", "network.views=2", "train.steps=6", "train.eval_every=3"), 8},
	} {
		t.Run(name, func(t *testing.T) {
			whole, _ := train(t, test.run)
			dir, pieces := finishInPieces(t, test.run, test.length, Options{Threads: 1})
			if pieces < 3 {
				t.Errorf("only %d pieces", pieces)
			}
			if diff := outcomeOf(t, whole).diff(outcomeOf(t, dir)); diff != "" {
				t.Errorf("in %d pieces the run ends otherwise:\n%s", pieces, diff)
			}
		})
	}
}

func withNesterov(run config.Resolved) config.Resolved {
	run.Train.Optimizer.Nesterov = true
	return run
}

// Data that change between two parts of a run are no longer the run's.
func TestDataChangeUnderARun(t *testing.T) {
	root := drawOffice(t, 3)
	run := resolveOffice(t, root, "full", "iwdan")
	dir := begin(t, run)
	if _, err := Run(&fuse{t.Context(), 12}, run, dir, Options{Threads: 1}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	changed := filepath.Join(root, "dslr", "images", "bike", "frame_0001.png")
	other := testfiles.Read(t, filepath.Join(root, "dslr", "images", "mug", "frame_0002.png"))
	testfiles.Write(t, changed, string(append(other, 0)))
	_, err := Run(t.Context(), run, dir, Options{Threads: 1})
	var refused *OtherRunError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "the data changed since") {
		t.Errorf("error %v", err)
	}
}
