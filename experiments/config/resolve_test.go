package config

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"iwda/datasets/catalogue"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

func TestResolveMistakes(t *testing.T) {
	file := parse(t, minimal+"train: {optimizer: {nesterov: true}}\noverrides: [{when: {seed: 2}, train: {optimizer: {momentum: 0}}}]\n")
	for _, test := range []struct {
		task, method string
		seed         int64
		want         string
	}{
		{"mnist-usps", "dann", 2, `f.yaml:7:31: train.optimizer.nesterov needs train.optimizer.momentum above 0`},
	} {
		if _, err := file.Resolve(test.task, "full", test.method, test.seed); err == nil || err.Error() != test.want {
			t.Errorf("got\n%v\nwant\n%v", err, test.want)
		}
	}
	resolve(t, file, "mnist-usps", "dann", 1)
}

func TestDomains(t *testing.T) {
	sources, target := resolve(t, parse(t, minimal), "usps-mnist", "dann", 1).Domains()
	if !slices.Equal(sources, []string{"usps"}) || target != "mnist" {
		t.Errorf("got %s to %s", sources, target)
	}
}

// canonical is what Hash hashes for the run below. Changing it makes every finished
// run of every user run again.
const canonical = `dataset.fraction=0.3
dataset.name="digits"
discriminator.dropout=0.5
discriminator.hidden=500
discriminator.reversal.alpha=10
discriminator.reversal.high=1
discriminator.reversal.iterations=10000
losses.classification="balanced"
losses.mmd="released"
losses.trade_off=1
method="iwdan"
network.name="lenet"
seed=1
task="usps-mnist"
train.batch=64
train.domain_from_epoch=2
train.epochs=70
train.eval_batch=500
train.optimizer.lr=0.02
train.optimizer.momentum=0.9
train.optimizer.name="sgd"
train.optimizer.weight_decay=0.0005
train.schedule.every=5
train.schedule.factor=0.5
train.schedule.name="step"
variant="full"
weights.ema=0.5
weights.estimator="qp"
weights.every=1
weights.min_singular_value=0.0001
weights.warmup=1`

func TestHashIsStable(t *testing.T) {
	got := resolve(t, parse(t, minimal), "usps-mnist", "iwdan", 1).Hash()
	sum := sha256.Sum256([]byte(canonical))
	if want := hex.EncodeToString(sum[:8]); got != want {
		t.Errorf("hash %s, want %s of the canonical form", got, want)
	}
	if want := "b440ff2ecb0ac09f"; got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

func TestHashSeesEveryKey(t *testing.T) {
	original := resolve(t, parse(t, minimal), "usps-mnist", "iwdan", 1)
	changes := map[string]func(*Resolved){
		"task":    func(r *Resolved) { r.Task = "mnist-usps" },
		"variant": func(r *Resolved) { r.Variant = "subsampled" },
		"method":  func(r *Resolved) { r.Method = "dann" },
		"seed":    func(r *Resolved) { r.Seed = 2 },
	}
	for _, leaf := range leaves("", reflect.ValueOf(original.Settings)) {
		changes[leaf.name] = func(r *Resolved) {
			for _, changed := range leaves("", reflect.ValueOf(&r.Settings).Elem()) {
				if changed.name == leaf.name {
					change(changed.value)
				}
			}
		}
	}
	hashes := map[string]string{original.Hash(): "the original"}
	for key, change := range changes {
		changed := original
		change(&changed)
		if reflect.DeepEqual(changed, original) {
			t.Fatalf("%s was not changed", key)
		}
		if slices.Contains(withoutEffect, key) {
			if changed.Hash() != original.Hash() {
				t.Errorf("the hash depends on %s", key)
			}
			continue
		}
		if other, same := hashes[changed.Hash()]; same {
			t.Errorf("changing %s gives the same hash as %s", key, other)
		}
		hashes[changed.Hash()] = key
	}
}

func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1e-9)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), v.Len()+1, v.Len()+1))
	}
}

func TestHashIgnoresWhatChangesNoResult(t *testing.T) {
	want := resolve(t, parse(t, minimal), "usps-mnist", "iwdan", 1).Hash()
	file := parse(t, strings.NewReplacer(
		"experiment: digits", "experiment: other\ntitle: Other",
		"name: digits}", "root: /elsewhere, name: digits}",
		"[mnist-usps, usps-mnist]", "[usps-mnist]",
		"[dann, iwdan]", "[iwdan]",
	).Replace(minimal)+"overrides: [{when: {seed: 2}, train: {epochs: 3}}]\n")
	if got := resolve(t, file, "usps-mnist", "iwdan", 1).Hash(); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

func TestYAMLRoundTrip(t *testing.T) {
	file := parse(t, minimal+`title: "Über: 'alles' #1"
train: {optimizer: {lr: 1.0e-7, weight_decay: 0.1}}
losses: {trade_off: 1e21}
overrides: [{when: {task: usps-*}, train: {schedule: {every: 6}}}]
`)
	setKeys(t, file, "weights.ema=0.3333333333333333", "dataset.root=a b/c")
	for _, task := range file.Config.Tasks {
		run := resolve(t, file, task, "iwdan", 2)
		text := yamlOf(t, run)
		again := resolve(t, parse(t, string(text)), task, "iwdan", 2)
		again.rootLocation = run.rootLocation
		if !reflect.DeepEqual(again, run) || again.Hash() != run.Hash() {
			t.Errorf("%s\nbecame %+v\ninstead of %+v", text, again, run)
		}
	}
}

func TestCheckData(t *testing.T) {
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain")
	testfiles.Write(t, plain, "")
	t.Setenv("IWDA_DATA", filepath.Join(folder, "none"))
	data := must.Have(catalogue.Find("digits"))(t)
	advice := func(root string) string {
		return `; set IWDA_DATA to the folder that holds "digits", or dataset.root to the folder of the data` + "\n" + data.Instructions(root)
	}
	set := "overrides: [{when: {seed: 2}, dataset: {root: " + plain + "}}]\n"
	file := parse(t, replace("name: digits}", "name: digits, root: "+folder+"}")+set)
	missing := parse(t, minimal)
	assigned := parse(t, minimal)
	must.Do(t, assigned.Set([]string{"dataset.root=none"}))
	for _, test := range []struct {
		name string
		file *File
		seed int64
		want string
	}{
		{"default", missing, 1, `f.yaml:2:10: dataset.root: "` + filepath.Join(folder, "none", "digits") + `" does not exist` + advice(filepath.Join(folder, "none", "digits"))},
		{"override", file, 2, `f.yaml:7:47: dataset.root: "` + plain + `" is not a folder` + advice(plain)},
		{"assignment", assigned, 1, `--set dataset.root=none: dataset.root: "none" does not exist` + advice("none")},
	} {
		err := resolve(t, test.file, "mnist-usps", "dann", test.seed).CheckData()
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: got\n%v\nwant\n%v", test.name, err, test.want)
		}
	}
	if err := resolve(t, file, "mnist-usps", "dann", 1).CheckData(); err != nil {
		t.Errorf("the folder is there: %v", err)
	}
	must.Do(t, assigned.Set([]string{"dataset.name=glyphs", "tasks=[clean-warped]"}))
	if err := resolve(t, assigned, "clean-warped", "dann", 1).CheckData(); err != nil {
		t.Errorf("glyphs need no folder: %v", err)
	}
}

func TestSettingsThatDoNotFit(t *testing.T) {
	for set, want := range map[string]string{
		"network.name=resnet18":          "does not fit data set digits; want one of lenet",
		"train.steps=100":                "no multiple of train.eval_every",
		"network.normalise=source":       "network.normalise is for features",
		"network.clip=2":                 "network.clip is for network.normalise source, standard and matched",
		"network.views=2":                "needs network.frozen",
		"network={views: 2}":             "network.views is for image files",
		"network.frozen=true":            "network.frozen keeps a backbone that was trained before; lenet has none",
		"network.name=torchscript":       "does not fit data set digits; want one of lenet",
		"network.file=backbone.pt":       "network.file is for network.name torchscript; here it is lenet",
		"train.schedule={name: inverse}": "needs gamma and power",
	} {
		file := parse(t, minimal)
		setKeys(t, file, set)
		if _, err := file.Resolve("usps-mnist", "full", "iwdan", 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", set, err, want)
		}
	}
}

// A forest makes no steps, in which domains could be aligned.
func TestForestAlignsNothing(t *testing.T) {
	text := strings.Replace(own("{a: {path: x.npz}, b: {path: y.npz}}", "[a-b]"), "methods: [", "methods: [source-only@forest, ", 1)
	all := parse(t, text+"network: {name: forest}\n")
	_, err := all.Resolve("a-b", "full", "iwdan", 1)
	if want := "f.yaml:7:17: network.name: forest makes no steps, in which iwdan could align domains; give it to source-only alone"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	one := parse(t, text+"network: {name: mlp, features: 3, layers: 1}\noverrides: [{when: {method: source-only@forest}, network: {name: forest}}]\n")
	resolve(t, one, "a-b", "iwdan", 1)
	if n := resolve(t, one, "a-b", "source-only@forest", 1).Network; n != (Network{Name: "forest"}) {
		t.Errorf("%+v", n)
	}
}

// A backbone of the user's own needs its file, and nothing else of a network's settings
// counts beside it.
func TestTorchScript(t *testing.T) {
	office := "experiment: o\ndataset: {name: office31, root: ROOT}\ntasks: [amazon-dslr]\nvariants: [full]\nmethods: [iwdan]\nseeds: [1]\n"
	folder := t.TempDir()
	t.Setenv("WEIGHTS", folder)
	for _, test := range []struct{ network, set, want string }{
		{"{name: torchscript}", "", "f.yaml:7:17: network.name is torchscript, but network.file, the file of the module, is missing"},
		{"{name: torchscript, file: ''}", "", "f.yaml:7:17: network.name is torchscript, but network.file"},
		{"{file: b.pt}", "", "f.yaml:7:17: network.file is for network.name torchscript; here it is resnet50"},
		{"{name: torchscript, file: '${NONE_SUCH}/b.pt'}", "", "f.yaml:7:36: environment variable NONE_SUCH is not set"},
		{"{name: torchscript, file: '${WEIGHTS}/b.pt'}", "", "f.yaml:7:36: network.file: stat " + folder + "/b.pt: no such file or directory; write a module in PyTorch"},
		{"{name: torchscript}", "network.file=" + folder, "--set network.file=" + folder + ": network.file: " + folder + " is a folder; write a module in PyTorch"},
	} {
		file, err := Parse("f.yaml", []byte(strings.Replace(office, "ROOT", folder, 1)+"network: "+test.network+"\n"))
		var run Resolved
		if err == nil && test.set != "" {
			err = file.Set([]string{test.set})
		}
		if err == nil {
			run, err = file.Resolve("amazon-dslr", "full", "iwdan", 1)
		}
		if err == nil {
			err = run.CheckData()
		}
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got\n%v\nwant\n%s", test.network, err, test.want)
		}
	}
	run := resolve(t, parse(t, office+"network: {name: torchscript, file: b.pt, frozen: true, features: 9}\n"), "amazon-dslr", "iwdan", 1)
	if want := (Network{Name: "torchscript", File: "b.pt", Frozen: true}); run.Network != want {
		t.Errorf("%+v, want %+v", run.Network, want)
	}
	text := yamlOf(t, run)
	if again, err := ParseRun("config.yaml", text); err != nil || again.Network != run.Network || again.Hash() != run.Hash() {
		t.Errorf("%+v, %v\n%s", again.Network, err, text)
	}
}

func TestImageDefaults(t *testing.T) {
	file := parse(t, "experiment: o\ndataset: {name: office31}\ntasks: [amazon-dslr]\nvariants: [full]\nmethods: [iwdan]\nseeds: [1]\n")
	run := resolve(t, file, "amazon-dslr", "iwdan", 1)
	if run.Network.Name != "resnet50" || run.Train.Steps != 100000 || run.Train.Epochs != 0 || run.Train.HeadRate != 10 || run.Weights.Every != 15 {
		t.Errorf("%+v", run.Settings)
	}
}

// TestLengthThatDoesNotCount gives the length of a run twice, or in the way that its
// data set does not count in.
func TestLengthThatDoesNotCount(t *testing.T) {
	office := "experiment: o\ndataset: {name: office31}\ntasks: [amazon-dslr]\nvariants: [full]\nmethods: [iwdan]\nseeds: [1]\n"
	for _, test := range []struct{ text, set, want string }{
		{minimal + "train: {epochs: 3, steps: 8, eval_every: 4}", "",
			"f.yaml:7:17: train.epochs has no effect together with train.steps (f.yaml:7:27); delete one of them"},
		{minimal + "train: {epochs: 3}\noverrides: [{when: {method: iwdan}, train: {steps: 8, eval_every: 4}}]", "",
			"f.yaml:7:17: train.epochs has no effect together with train.steps (f.yaml:8:52); delete one of them"},
		{minimal + "train: {steps: 8, eval_every: 4}", "train.epochs=3",
			"--set train.epochs=3: train.epochs has no effect together with train.steps (f.yaml:7:16); delete one of them"},
		{office + "train: {epochs: 3}", "",
			"f.yaml:7:17: train.epochs does not count: the length of runs on office31 is train.steps, 100000; set that, and train.eval_every, the steps between two evaluations"},
		{office, "train.epochs=3",
			"--set train.epochs=3: train.epochs does not count: the length of runs on office31 is train.steps, 100000; set that, and train.eval_every, the steps between two evaluations"},
		{minimal + "train: {eval_every: 4}", "",
			"f.yaml:7:21: train.eval_every does not count: runs on digits are evaluated after each of train.epochs, 70; set train.steps in its place, or delete it"},
	} {
		file := parse(t, test.text)
		if test.set != "" {
			setKeys(t, file, test.set)
		}
		c := file.Config
		if _, err := file.Resolve(c.Tasks[0], "full", "iwdan", 1); err == nil || err.Error() != test.want {
			t.Errorf("%s, %s: got\n%v\nwant\n%s", test.text, test.set, err, test.want)
		}
	}
}

// Losses that compare rows of one domain, and batch normalisation, need two rows.
func TestBatchesOfOneRow(t *testing.T) {
	images := "experiment: e\ndataset: {name: files, domains: {a: {path: a}, b: {path: b}}}\ntasks: [a-b]\nvariants: [full]\nmethods: [source-only]\nseeds: [1]\n"
	for _, c := range []struct {
		method string
		wrong  bool
	}{
		{"dan", true}, {"jan", true}, {"iwjan", true}, {"dann", false}, {"source-only", false},
	} {
		file := parse(t, strings.NewReplacer("source-only", c.method).Replace(images))
		setKeys(t, file, "train.batch=1")
		if _, err := file.Resolve("a-b", "full", c.method, 1); c.wrong != (err != nil && strings.Contains(err.Error(), "train.batch is 1; "+c.method)) {
			t.Errorf("%s: %v", c.method, err)
		}
	}
	file := parse(t, "experiment: e\ndataset: {name: office31}\ntasks: [amazon-dslr]\nvariants: [full]\nmethods: [source-only]\nseeds: [1]\n")
	for _, frozen := range []string{"true", "false"} {
		setKeys(t, file, "train.batch=1", "network={name: resnet18, pretrained: x, frozen: "+frozen+", views: 0}")
		if _, err := file.Resolve("amazon-dslr", "full", "source-only", 1); (frozen == "false") != (err != nil && strings.Contains(err.Error(), "batch normalisation")) {
			t.Errorf("frozen %s: %v", frozen, err)
		}
	}
}
