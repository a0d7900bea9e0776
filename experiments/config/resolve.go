package config

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"iwda/datasets/catalogue"
	"iwda/datasets/normalise"
	"iwda/internal/printable"
	"iwda/losses/form"
	"iwda/nets/architecture"
)

// Resolved is the configuration of one run: all overrides and assignments are in
// its settings.
type Resolved struct {
	Experiment string
	Title      string
	Task       string // source-target, or source+source-target
	Variant    string
	Method     string // a name that ParseMethod knows
	Seed       int64
	Settings

	source, target string // as in a pair
	// for CheckData: where dataset.root, and network.file or network.pretrained, are given
	rootLocation, fileLocation string
}

// Resolve returns the configuration of the run of a method on a variant of a task.
// All four are of the lists of f.Config. The error is of type Errors.
func (f *File) Resolve(task, variant, method string, seed int64) (Resolved, error) {
	d := newDecoder(f.locate)
	d.at = maps.Clone(f.at)
	whole := conditional{Settings: f.base.Settings}
	for _, o := range f.overrides {
		if o.when.match(task, variant, method, seed) {
			d.locate = o.locate
			d.decodeInto("", o.node, &whole)
		}
	}
	doc := document{Config: Config{Settings: whole.Settings}}
	f.decodeAssignments(d, &doc)

	if doc.Train.Optimizer.Nesterov && doc.Train.Optimizer.Momentum == 0 {
		d.failAt(d.at["train.optimizer.nesterov"], "train.optimizer.nesterov needs train.optimizer.momentum above 0")
	}
	domains, problem := f.Config.domainsOf(task, doc.Dataset)
	if problem != "" {
		d.failAt(cmp.Or(d.at["dataset.domains"], d.at["tasks"]), "task %s: %s", task, problem)
	}
	// Domains of other tasks have nothing to do with the run.
	if of := doc.Dataset.Domains.of(domains.all()...); len(of) == len(domains.all()) {
		doc.Dataset.Domains = slices.CompactFunc(of, func(a, b catalogue.Files) bool { return a.Domain == b.Domain })
	}
	f.checkClassFractions(d, variant, doc.Dataset)
	doc.Settings.checkTogether(d)
	network := architecture.Name(doc.Network.Name)
	if network == architecture.TorchScript || network == architecture.LeNet || network.Learnt() { // such defaults mean nothing to them
		doc.Network.Pretrained, doc.Network.Features, doc.Network.Layers = "", 0, 0
	}
	r := Resolved{
		Experiment: f.Config.Experiment, Title: f.Config.Title,
		Task: task, Variant: variant, Method: method, Seed: seed,
		Settings: doc.Settings,
		source:   domains.source, target: domains.target,
		rootLocation: cmp.Or(d.at["dataset.root"], d.at["dataset.domains"], d.at["dataset"]),
		fileLocation: cmp.Or(d.at["network.file"], d.at["network.pretrained"]),
	}
	r.Train.checkLength(d, r.Dataset.Name)
	m, _ := ParseMethod(method)
	if network.Learnt() && m.Alignment != NoAlignment {
		d.failAt(cmp.Or(d.at["network.name"], d.at["network"]), "network.name: %s makes no steps, in which %s could align domains; "+
			"give it to source-only alone, as with the override {when: {method: source-only@%[1]s}, network: {name: %[1]s}}", network, method)
	}
	if r.Train.Batch == 1 {
		at := cmp.Or(d.at["train.batch"], d.at["train"])
		switch {
		case m.Alignment.Properties().Kernel:
			d.failAt(at, "train.batch is 1; %s compares rows of a domain with each other: it must be at least 2", method)
		case strings.HasPrefix(r.Network.Name, "resnet") && !r.Network.Frozen:
			d.failAt(at, "train.batch is 1; %s has batch normalisation, which needs the variance of several rows: it must be at least 2", r.Network.Name)
		}
	}
	return r, d.errors.OrNil()
}

// CheckMethods returns an Error that names two methods which are trained alike on a task with a
// seed, or nil. runs are the file's configurations of all methods there.
func (f *File) CheckMethods(runs []Resolved) error {
	trained := map[string]string{} // by what determines the training
	for i, run := range runs {
		key := fmt.Sprint(run.training()) // in the order of its keys
		other, is := trained[key]
		if !is {
			trained[key] = run.Method
			continue
		}
		why := "what they do not share changes nothing in them"
		a, _ := ParseMethod(other)
		if b, _ := ParseMethod(run.Method); a.Weights != b.Weights {
			why = fmt.Sprintf("losses.classification: %s contains no class weight; %s and %s do", form.Balanced, form.WeightedBalanced, form.ReleasedWeightedBalanced)
		}
		return Error{cmp.Or(f.at[fmt.Sprintf("methods[%d]", i)], f.at["methods"], f.Name), fmt.Sprintf("methods %s and %s are trained alike: %s; "+
			"delete one, or give one other settings in an override", other, run.Method, why)}
	}
	return nil
}

// WithoutSteps reports whether the run is made without steps and without libtorch.
func (r Resolved) WithoutSteps() bool { return architecture.Name(r.Network.Name).Learnt() }

// MissingWeights says that the file of pretrained weights is not there, and how to get it; "" if it
// is, or none is used.
func (n Network) MissingWeights() string {
	if n.Pretrained == "" || n.Pretrained == NotPretrained {
		return ""
	}
	_, err := os.Stat(n.Pretrained)
	if err == nil {
		return ""
	}
	url := architecture.WeightsURL(architecture.Name(n.Name))
	get := "from " + url
	if path.Base(url) == filepath.Base(n.Pretrained) {
		get = fmt.Sprintf("with\n  curl --create-dirs -o %q %s", n.Pretrained, url)
	}
	return fmt.Sprintf("network.pretrained: %v; get the weights of %s %s", err, n.Name, get)
}

// checkClassFractions reports class fractions that are missing, in excess or not one
// a class.
func (f *File) checkClassFractions(d *decoder, variant string, data Dataset) {
	const key = "dataset.class_fractions"
	known, err := catalogue.Find(data.Name)
	if err != nil {
		return // reported where it was read
	}
	number := len(data.ClassFractions)
	switch domain := FractionsDomain(variant); {
	case domain == "" && number > 0:
		d.failAt(d.at[key], "%s is not for the variant %s, but for variants source-… and target-…; give it in an override, as when: {variant: source-*}", key, variant)
	case domain != "" && number == 0:
		location := cmp.Or(d.at[fmt.Sprintf("variants[%d]", slices.Index(f.Config.Variants, variant))], d.at["variants"])
		d.failAt(location, "variant %s has no %s; give it in an override, as when: {variant: %s}", variant, key, variant)
	case domain != "" && len(known.Classes) > 0 && number != len(known.Classes):
		d.failAt(d.at[key], "%s has %s for the %s of %s", key, printable.Count(number, "value"), printable.Count(len(known.Classes), "class"), data.Name)
	}
}

// checkLength reports keys of the length of a run that do not count, as it is given in
// epochs or in steps.
func (t Train) checkLength(d *decoder, dataset string) {
	epochs, inEpochs := d.at["train.epochs"]
	steps, inSteps := d.at["train.steps"]
	every, everySteps := d.at["train.eval_every"]
	switch {
	case inEpochs && inSteps:
		d.failAt(epochs, "train.epochs has no effect together with train.steps (%s); delete one of them", steps)
	case inEpochs && t.Steps > 0:
		d.failAt(epochs, "train.epochs does not count: the length of runs on %s is train.steps, %d; set that, and train.eval_every, the steps between two evaluations", dataset, t.Steps)
	case everySteps && t.Steps == 0:
		d.failAt(every, "train.eval_every does not count: runs on %s are evaluated after each of train.epochs, %d; set train.steps in its place, or delete it", dataset, t.Epochs)
	}
}

// Domains returns the names of the task's sources and of its target.
func (r Resolved) Domains() (sources []string, target string) {
	return pair{r.source, r.target}.sources(), r.target
}

// Apart reports whether the run has several sources that do not count as one.
func (r Resolved) Apart() bool {
	sources, _ := r.Domains()
	return len(sources) > 1 && !r.Dataset.Pool && !r.WithoutSteps()
}

// CheckData returns an Error that names dataset.root, and says what has to be there,
// where the folder of the run's data set does not exist, or one that names network.file
// where that does not. Data that are drawn need none.
func (r Resolved) CheckData() error {
	if file := r.Network.File; file != "" {
		info, err := os.Stat(file)
		if err == nil && info.IsDir() {
			err = fmt.Errorf("%s is a folder", file)
		}
		if err != nil {
			return Error{r.fileLocation, fmt.Sprintf("network.file: %v; write a module in PyTorch with torch.jit.script(module).save(path)", err)}
		}
	}
	data, err := r.Dataset.Described()
	if err != nil {
		return Error{r.rootLocation, err.Error()}
	}
	if data.Drawn() {
		return nil
	}
	if data.Named() {
		if err := r.checkDomains(data); err != nil {
			return err
		}
		return r.checkWeights()
	}
	info, err := os.Stat(r.Dataset.Root)
	if err == nil && info.IsDir() {
		return r.checkWeights()
	}
	problem := "is not a folder"
	if os.IsNotExist(err) {
		problem = "does not exist"
	} else if err != nil {
		problem = "cannot be opened: " + err.Error()
	}
	return Error{r.rootLocation, fmt.Sprintf("dataset.root: %q %s; set IWDA_DATA to the folder that holds %q, or dataset.root to the folder of the data\n%s",
		r.Dataset.Root, problem, data.Name, data.Instructions(r.Dataset.Root))}
}

// checkWeights returns an Error if the file of pretrained weights is not there.
func (r Resolved) checkWeights() error {
	missing := r.Network.MissingWeights()
	if missing == "" {
		return nil
	}
	missing += "\nwithout them, network.pretrained: none trains from scratch"
	if r.Network.Frozen {
		missing += ", with network.frozen: false and network.views: 0"
	}
	return Error{cmp.Or(r.fileLocation, r.rootLocation), missing}
}

// checkDomains returns an Error where a file of the user's own domains is missing, or
// where the method needs labels that the target does not have.
func (r Resolved) checkDomains(data catalogue.Dataset) error {
	if err := data.CheckFiles(r.Dataset.Root); err != nil {
		return Error{r.rootLocation, "dataset.domains: " + err.Error()}
	}
	method, ok := ParseMethod(r.Method)
	if !ok || method.Weights != OracleWeights {
		return nil
	}
	sources, target := r.Domains()
	labelled, err := data.MayHaveLabels(r.Dataset.Root, sources[0], target, sources[1:]...)
	if err == nil && !labelled {
		err = fmt.Errorf("%s uses the true class shares of the target, but %s has no labels; %s estimates them", r.Method, r.target, strings.TrimSuffix(r.Method, "-o"))
	}
	if err != nil {
		return Error{r.rootLocation, err.Error()}
	}
	return nil
}

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
	if err := s.Train.Schedule.check(); err != nil {
		fail("train.schedule.name", "%v", err)
	}
}
