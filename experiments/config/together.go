package config

import (
	"cmp"
	"slices"
	"strings"

	"iwda/datasets/catalogue"
	"iwda/datasets/normalise"
	"iwda/nets/architecture"
	"iwda/weightest"
)

// together checks settings beside each other.
type together struct {
	*Settings
	d *decoder
}

// checkTogether reports settings that do not fit each other.
func (s *Settings) checkTogether(d *decoder) {
	t := together{s, d}
	t.checkDataset()
	t.checkNetwork()
	t.checkTrain()
}

// fail reports a mistake at the key, or where the mapping that holds it is given.
func (t together) fail(path, format string, args ...any) {
	parent, _, _ := strings.Cut(path, ".")
	t.d.failAt(cmp.Or(t.d.at[path], t.d.at[parent]), format, args...)
}

func (t together) checkDataset() {
	if t.Dataset.Crop > t.Dataset.Resize {
		t.fail("dataset.crop", "dataset.crop is %d, more than dataset.resize, %d", t.Dataset.Crop, t.Dataset.Resize)
	}
	data, err := t.Dataset.Described()
	if err != nil {
		t.fail("dataset.domains", "%v", err)
		return
	}
	n := t.Network
	if data.Named() != (len(t.Dataset.Domains) > 0) {
		t.fail("dataset.domains", "dataset.domains, the files of each domain, belongs to dataset.name files, and that needs it")
	} else if networks := networksOf(data.Kind); !slices.Contains(networks, n.Name) {
		t.fail("network.name", "network.name is %s, which does not fit data set %s; want one of %s", n.Name, t.Dataset.Name, strings.Join(networks, ", "))
	}
	if data.Kind != catalogue.Vectors && n.Normalise != "" {
		t.fail("network.normalise", "network.normalise is for features; images are normalised as their networks want them")
	} else if data.Kind != catalogue.ImageFiles && n.Views > 0 {
		t.fail("network.views", "network.views is for image files; rows of data set %s have one view", t.Dataset.Name)
	}
}

func (t together) checkNetwork() {
	n := t.Network
	if n.Clip > 0 && !normalise.Standardises(n.Normalise) {
		t.fail("network.clip", "network.clip is for network.normalise %s, %s and %s; leave it out, or set it to 0", normalise.Standard, normalise.Centred, normalise.Matched)
	}
	if n.Scale != "" && !normalise.Standardises(n.Normalise) {
		t.fail("network.scale", "network.scale is for network.normalise %s, %s and %s; leave it out", normalise.Standard, normalise.Centred, normalise.Matched)
	}
	switch isModule := n.Name == string(architecture.TorchScript); {
	case isModule && n.File == "":
		t.fail("network.name", "network.name is %s, but network.file, the file of the module, is missing", n.Name)
	case !isModule && n.File != "":
		t.fail("network.file", "network.file is for network.name %s; here it is %s", architecture.TorchScript, n.Name)
	}
	if n.Views > 0 && !n.Frozen {
		t.fail("network.views", "network.views needs network.frozen: only a frozen backbone gives the same features twice")
	}
	if t.Train.Precision == BFloat16 && !strings.HasPrefix(n.Name, "resnet") {
		t.fail("train.precision", "train.precision: bf16 is for ResNets; %s takes float32", n.Name)
	}
}

func (t together) checkTrain() {
	if steps, every := t.Train.Steps, t.Train.EvalEvery; steps > 0 && (every == 0 || steps%every != 0) {
		t.fail("train.steps", "train.steps is %d, which is no multiple of train.eval_every, %d", steps, every)
	} else if steps == 0 && t.Train.Epochs == 0 {
		t.fail("train.epochs", "train needs epochs or steps")
	}
	if needs, err := weightest.RequirementOf(t.Weights.Estimator); err == nil && needs != weightest.TrainingStatistics && t.Train.Validation == 0 {
		t.fail("weights.estimator", "weights.estimator %s reads source rows that are held out; set train.validation, such as 0.2, or take qp", t.Weights.Estimator)
	}
	if err := t.Train.Schedule.Check(); err != nil {
		t.fail("train.schedule.name", "%v", err)
	}
}
