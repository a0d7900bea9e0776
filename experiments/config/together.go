package config

import (
	"cmp"
	"slices"
	"strings"

	"iwda/datasets/catalogue"
	"iwda/datasets/normalise"
	"iwda/nets/architecture"
)

// checkTogether reports settings that do not fit each other, each at its key, or where the mapping
// that holds it is given.
func (s *Settings) checkTogether(d *decoder) {
	fail := func(path, format string, args ...any) {
		parent, _, _ := strings.Cut(path, ".")
		d.failAt(cmp.Or(d.at[path], d.at[parent]), format, args...)
	}

	if s.Dataset.Crop > s.Dataset.Resize {
		fail("dataset.crop", "dataset.crop is %d, more than dataset.resize, %d", s.Dataset.Crop, s.Dataset.Resize)
	}
	n := s.Network
	data, err := s.Dataset.Described()
	switch networks := networksOf(data.Kind); {
	case err != nil:
		fail("dataset.domains", "%v", err)
	case data.Named() != (len(s.Dataset.Domains) > 0):
		fail("dataset.domains", "dataset.domains, the files of each domain, belongs to dataset.name files, and that needs it")
	case !slices.Contains(networks, n.Name):
		fail("network.name", "network.name is %s, which does not fit data set %s; want one of %s", n.Name, s.Dataset.Name, strings.Join(networks, ", "))
	}
	switch {
	case err != nil: // nothing is known of the rows
	case data.Kind != catalogue.Vectors && n.Normalise != "":
		fail("network.normalise", "network.normalise is for features; images are normalised as their networks want them")
	case data.Kind == catalogue.ImageFiles && n.Name == string(architecture.LeNet) && s.Dataset.Crop != architecture.LeNetSide:
		fail("dataset.crop", "dataset.crop is %d; network.name %s takes images of %d pixels a side: set dataset.resize and crop to %[3]d", s.Dataset.Crop, n.Name, architecture.LeNetSide)
	case n.Frozen && n.Name != string(architecture.TorchScript) && !strings.HasPrefix(n.Name, "resnet"):
		fail("network.frozen", "network.frozen keeps a backbone that was trained before; %s has none", n.Name)
	case n.Frozen && n.Pretrained == NotPretrained:
		fail("network.pretrained", "network.pretrained is %s, but network.frozen keeps the backbone as it is, which would be random weights: set network.frozen to false and network.views to 0 to train all of %s, or give a file with weights", NotPretrained, n.Name)
	case data.Kind != catalogue.ImageFiles && n.Views > 0:
		fail("network.views", "network.views is for image files; rows of data set %s have one view", s.Dataset.Name)
	}

	if n.Clip > 0 && !normalise.Standardises(n.Normalise) {
		fail("network.clip", "network.clip is for network.normalise %s, %s and %s; leave it out, or set it to 0", normalise.OfSource, normalise.Standard, normalise.Matched)
	}
	switch isModule := n.Name == string(architecture.TorchScript); {
	case isModule && n.File == "":
		fail("network.name", "network.name is %s, but network.file, the file of the module, is missing", n.Name)
	case !isModule && n.File != "":
		fail("network.file", "network.file is for network.name %s; here it is %s", architecture.TorchScript, n.Name)
	}
	if n.Views > 0 && !n.Frozen {
		fail("network.views", "network.views needs network.frozen: only a frozen backbone gives the same features twice")
	}

	if steps, every := s.Train.Steps, s.Train.EvalEvery; steps > 0 && (every == 0 || steps%every != 0) {
		fail("train.steps", "train.steps is %d, which is no multiple of train.eval_every, %d", steps, every)
	} else if steps == 0 && s.Train.Epochs == 0 {
		fail("train.epochs", "train needs epochs or steps")
	}
	if err := s.Train.Schedule.Check(); err != nil {
		fail("train.schedule.name", "%v", err)
	}
}
