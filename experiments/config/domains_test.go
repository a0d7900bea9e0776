package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// own is an experiment on the user's own files.
func own(domains, tasks string) string {
	return "experiment: mine\ndataset: {name: files, root: ROOT, domains: " + domains + "}\ntasks: " + tasks +
		"\nvariants: [full]\nmethods: [iwdan, iwdan-o]\nseeds: [1]\n"
}

func TestOwnDomains(t *testing.T) {
	const hyphens = "{my-photos: {path: p.npz, test: q.npz}, Old-Sketches: {path: s.csv}, flat: {path: f.npz}}"
	file := parse(t, own(hyphens, "[my-photos-old-sketches, [flat, My-Photos], flat-flat]"))
	if want := []string{"my-photos-old-sketches", "flat-my-photos", "flat-flat"}; !slices.Equal(file.Config.Tasks, want) {
		t.Errorf("tasks %q, want %q", file.Config.Tasks, want)
	}
	for task, want := range map[string][]string{
		"my-photos-old-sketches": {"my-photos", "old-sketches", "my-photos: p.npz (test: q.npz), old-sketches: s.csv"},
		"flat-my-photos":         {"flat", "my-photos", "flat: f.npz, my-photos: p.npz (test: q.npz)"},
		"flat-flat":              {"flat", "flat", "flat: f.npz"},
	} {
		run := resolve(t, file, task, "iwdan", 1)
		sources, target := run.Domains()
		if got := []string{strings.Join(sources, "+"), target, run.Dataset.Domains.String()}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", task, got, want)
		}
		if diff := rewritten(t, run); diff != "" {
			t.Errorf("%s: %s", task, diff)
		}
		text := yamlOf(t, run)
		again, err := ParseRun("config.yaml", text)
		if s, d := again.Domains(); err != nil || !slices.Equal(s, sources) || d != target {
			t.Errorf("%s: written as %s, read as %s and %s, %v", task, text, s, d, err)
		}
	}
}

// A task of several sources is written in three ways, has one name and keeps the files of all of them.
func TestSeveralSources(t *testing.T) {
	const files = "{my-photos: {path: p.npz}, Scans: {path: s.csv}, flat: {path: f.npz}, c: {path: c.npz}}"
	for _, tasks := range []string{"[{source: [My-Photos, scans], target: flat}]", "[my-photos+scans-flat]", "[[my-photos+scans, flat]]"} {
		file := parse(t, own(files, tasks))
		run := resolve(t, file, "my-photos+scans-flat", "iwdan", 1)
		sources, target := run.Domains()
		if got := run.Dataset.Domains.String(); !slices.Equal(sources, []string{"my-photos", "scans"}) || target != "flat" || got != "my-photos: p.npz, scans: s.csv, flat: f.npz" {
			t.Errorf("%s: %q, %s, files %s", tasks, sources, target, got)
		}
		if diff := rewritten(t, run); diff != "" {
			t.Errorf("%s: %s", tasks, diff)
		}
		pooled := *file
		if err := pooled.Set([]string{"dataset.pool=true"}); err != nil || resolve(t, &pooled, "my-photos+scans-flat", "iwdan", 1).Hash() == run.Hash() {
			t.Errorf("%s: pooled sources have the same hash, error %v", tasks, err)
		}
	}
	one := parse(t, own(files, "[{source: [scans], target: flat}]"))
	if !slices.Equal(one.Config.Tasks, []string{"scans-flat"}) {
		t.Errorf("one source: tasks %q", one.Config.Tasks)
	}
	images := parse(t, "experiment: e\ndataset: {name: office31}\ntasks: [{source: [amazon, dslr], target: webcam}]\nvariants: [full]\nmethods: [iwdan]\nseeds: [1]\n")
	if run := resolve(t, images, "amazon+dslr-webcam", "iwdan", 1); run.Task != "amazon+dslr-webcam" {
		t.Errorf("task %s", run.Task)
	}
}

func TestSeveralSourcesMistakes(t *testing.T) {
	const files = "{a: {path: x.npz}, b: {path: y.npz}, c: {path: z.npz}}"
	for tasks, want := range map[string]string{
		"[{source: [a, a], target: b}]":        `tasks[0].source holds a twice`,
		"[{source: [a, A], target: b}]":        `f.yaml:3:9: task a+a-b: source a is given twice; leave one out`,
		"[a+b+a-c]":                            `f.yaml:3:9: task a+b+a-c: source a is given twice; leave one out`,
		"[{source: [a, b], target: b}]":        `f.yaml:3:9: task a+b-b: the target, b, is one of its sources; leave it out there`,
		"[{source: [a, d], target: b}]":        `f.yaml:3:9: task a+d-b: no domain "d"; dataset.domains has a, b, c`,
		"[{source: [a, b], target: d}]":        `no domain "d"`,
		"[{source: a, target: b}]":             `tasks[0].source must be a list, as [a, b], not the text "a"`,
		"[{source: [], target: b}]":            `f.yaml:3:9: tasks[0] needs source, a list of domains, and target, a domain`,
		"[{source: [a]}]":                      `tasks[0] needs source, a list of domains, and target, a domain`,
		"[{sources: [a, b], target: c}]":       `unknown key "sources" in tasks[0]; did you mean "source"?`,
		"[{source: ['', b], target: c}]":       `f.yaml:3:9: task "+b-c" is not of the form source-target, two names of files and folders`,
		"[a+b-c, {source: [a, b], target: c}]": `tasks holds a+b-c twice`,
	} {
		if _, err := Parse("f.yaml", []byte(own(files, tasks))); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one with %q", tasks, err, want)
		}
	}
	_, err := Parse("f.yaml", []byte("experiment: e\ndataset: {name: office31}\ntasks: [{source: [amazon, dsrl], target: webcam}]\nvariants: [full]\nmethods: [iwdan]\nseeds: [1]\n"))
	if want := `unknown task "dsrl-webcam" of data set office31; did you mean "dslr-webcam"?`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// Tasks that replace others replace what their pairs said of names.
func TestTasksThatReplacePairs(t *testing.T) {
	text := own("{a-b: {path: x}, c: {path: x}, a: {path: x}, b-c: {path: x}}", "[[a, b-c]]")
	file := parse(t, text)
	setKeys(t, file, "tasks=[[a-b, c]]")
	if p, wrong := file.Config.domainsOf("a-b-c", file.Config.Dataset); p.source != "a-b" || p.target != "c" || wrong != "" {
		t.Errorf("%s and %s: %s", p.source, p.target, wrong)
	}
	must.Fail(t, file.Set([]string{"tasks=[a-b-c]"}), "can be [a, b-c] or [a-b, c]")
}

// The files of a domain determine the result, and so its name; those of a domain that is
// in no run's task do not.
func TestOwnDomainsInTheHash(t *testing.T) {
	hash := func(domains string) string {
		return resolve(t, parse(t, own(domains, "[a-b]")), "a-b", "iwdan", 1).Hash()
	}
	want := hash("{a: {path: x.npz}, b: {path: y.npz}}")
	if got := hash("{b: {path: y.npz}, c: {path: z.npz}, a: {path: x.npz}}"); got != want {
		t.Errorf("another order and another domain: hash %s, not %s", got, want)
	}
	for _, other := range []string{"{a: {path: y.npz}, b: {path: x.npz}}", "{a: {path: x.npz}, b: {path: y.npz, test: x.npz}}"} {
		if hash(other) == want {
			t.Errorf("%s has the same hash", other)
		}
	}
}

// Variants are for published experiments: files of one's own have one, and the runs are those
// of a file that names it.
func TestOwnDomainsHaveOneVariant(t *testing.T) {
	named := own("{a: {path: x.npz}, b: {path: y.npz}}", "[a-b]")
	file := parse(t, strings.Replace(named, "variants: [full]\n", "", 1))
	if !slices.Equal(file.Config.Variants, []string{"full"}) {
		t.Fatalf("variants %q", file.Config.Variants)
	}
	if with, without := resolve(t, parse(t, named), "a-b", "iwdan", 1), resolve(t, file, "a-b", "iwdan", 1); with.Hash() != without.Hash() {
		t.Errorf("hashes %s and %s", with.Hash(), without.Hash())
	}
}

func TestOwnDomainsMistakes(t *testing.T) {
	const two = "{a: {path: x.npz}, b: {path: y.npz}}"
	for _, test := range []struct{ domains, tasks, want string }{
		{two, "[a-c]", `f.yaml:3:9: task a-c: no domain "c"; dataset.domains has a, b`},
		{two, "[[a, c]]", `f.yaml:3:9: task a-c: no domain "c"`},
		{two, "[[a, b, a-b]]", `tasks[0] is a list of 3; a task is source-target, [source, target] or {source: [source, source], target: target}`},
		{two, "[a-b, [a, b]]", `tasks holds a-b twice`},
		{two, "[{a: b}]", `unknown key "a" in tasks[0]`},
		{two, "a-b", `tasks must be a list`},
		{"{a-b: {path: x}, c: {path: x}, a: {path: x}, b-c: {path: x}}", "[a-b-c]", "task a-b-c can be [a, b-c] or [a-b, c]; write it as one of these"},
		{"{a-b: {path: x}, c: {path: x}, a: {path: x}, b-c: {path: x}}", "[[a-b, c], [a, b-c]]", "tasks [a-b, c] and [a, b-c] would share the folder a-b-c; rename a domain"},
		{"{a: {path: x.npz}, b: {}}", "[a-b]", `f.yaml:2:67: domain "b" has no path`},
		{"{a: {path: x.npz}, b: {path: ''}}", "[a-b]", `domain "b" has no path`},
		{"{a: {path: x.npz}, A: {path: y.npz}}", "[a-a]", `domain "a" is given twice`},
		{"{../a: {path: x.npz}}", "[a-b]", `a domain is called "../a"`},
		{"{a: {path: '${NONE_SUCH}/x'}}", "[a-b]", `environment variable NONE_SUCH is not set`},
		{"{a: {file: x.npz}, b: {path: x}}", "[a-b]", `unknown key "file" in dataset.domains.a`},
		{"[a, b]", "[a-b]", "dataset.domains must be a mapping from names to files"},
	} {
		_, err := Parse("f.yaml", []byte(own(test.domains, test.tasks)))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, %s: error %v, want %q", test.domains, test.tasks, err, test.want)
		}
	}
	for text, want := range map[string]string{
		own("{a: {path: x.npz}, b: {path: folder}}", "[a-b]"):                        "x.npz and folder: one is a file of features, which ends with .npz",
		replace("name: digits", "name: digits, domains: "+two):                       "belongs to dataset.name files",
		own(two, "[a-b]") + "overrides: [{when: {seed: 1}, network: {name: lenet}}]": "does not fit data set files; want one of mlp, linear, forest, boosting, perceptron, torchscript",
	} {
		file := parse(t, text)
		must.Refuse(file.Resolve(file.Config.Tasks[0], "full", "iwdan", 1))(t, want)
	}
	must.Refuse(Parse("f.yaml", []byte(strings.Replace(own(two, "[a-b]"), ", domains: "+two, "", 1))))(t, "dataset.domains is missing")
}

// Images have labels where folders have the names of the source's classes.
func TestOracleOnImagesWithoutLabels(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"photos/cat/1.png", "photos/dog/2.png", "flat/1.png", "sorted/cat/1.png"} {
		testfiles.Write(t, filepath.Join(root, name), "")
	}
	text := own("{photos: {path: photos}, flat: {path: flat}, sorted: {path: sorted}}", "[photos-flat, photos-sorted]") + "network: {name: resnet18, pretrained: none}\n"
	file := parse(t, strings.Replace(text, "ROOT", root, 1))
	for _, test := range []struct{ task, method, want string }{
		{"photos-flat", "iwdan", ""},
		{"photos-sorted", "iwdan-o", ""},
		{"photos-flat", "iwdan-o", "f.yaml:2:30: iwdan-o uses the true class shares of the target, but flat has no labels; iwdan estimates them"},
	} {
		err := resolve(t, file, test.task, test.method, 1).CheckData()
		if err != nil && err.Error() != test.want || err == nil && test.want != "" {
			t.Errorf("%s, %s: error %v, want %q", test.task, test.method, err, test.want)
		}
	}
}

// Files that are not there, and a target without labels under a method that needs its
// true class shares, are refused before anything starts.
func TestOwnDomainsAreLookedAt(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"x.csv": "label,u\n1,0\n", "y.csv": "u\n0\n"} {
		testfiles.Write(t, filepath.Join(root, name), text)
	}
	file := parse(t, strings.Replace(own("{a: {path: x.csv}, b: {path: y.csv}, c: {path: z.csv}}", "[a-b, b-a, a-c]"), "ROOT", root, 1))
	for _, test := range []struct{ task, method, want string }{
		{"a-b", "iwdan", ""},
		{"b-a", "iwdan-o", ""},
		{"a-b", "iwdan-o", "f.yaml:2:30: iwdan-o uses the true class shares of the target, but b has no labels; iwdan estimates them"},
		{"a-c", "iwdan", "f.yaml:2:30: dataset.domains: c: stat " + filepath.Join(root, "z.csv") + ": no such file or directory"},
	} {
		err := resolve(t, file, test.task, test.method, 1).CheckData()
		if got := ""; err != nil && err.Error() != test.want || err == nil && test.want != got {
			t.Errorf("%s, %s: error %v, want %q", test.task, test.method, err, test.want)
		}
	}
}

// What a domain's files say of columns determines the result, too. Without a word of them, the hash
// is that of earlier versions.
func TestColumnsOfDomains(t *testing.T) {
	for domains, want := range map[string]string{
		"{a: {path: x.csv}, b: {path: \"y \\\"z\\\".csv\", test: z.csv}}": `config.Domains{catalogue.Files{Domain:"a", Path:"x.csv", Test:""}, catalogue.Files{Domain:"b", Path:"y \"z\".csv", Test:"z.csv"}}`,
		"{a: {path: x.csv, label_column: kind, ignore: [q, r]}, b: {path: x.csv, id_column: n, domain_column: site, domain_value: \"1\"}}": `config.Domains{catalogue.Files{Domain:"a", Path:"x.csv", Test:"", Roles:table.Roles{Label:"kind", ID:"", Ignore:[]string{"q", "r"}, DomainColumn:"", DomainValue:""}}, ` +
			`catalogue.Files{Domain:"b", Path:"x.csv", Test:"", Roles:table.Roles{Label:"", ID:"n", Ignore:[]string(nil), DomainColumn:"site", DomainValue:"1"}}}`,
	} {
		run := resolve(t, parse(t, own(domains, "[a-b]")), "a-b", "iwdan", 1)
		if got := source(run.Dataset.Domains); got != want {
			t.Errorf("%s: counts as %s, want %s", domains, got, want)
		}
		if diff := rewritten(t, run); diff != "" {
			t.Errorf("%s: %s", domains, diff)
		}
	}
	for domains, want := range map[string]string{
		"{a: {path: x.csv, label: kind}, b: {path: y.csv}}":        `unknown key "label" in dataset.domains.a`,
		"{a: {path: x, label_column: kind}, b: {path: y}}":         "x: labels in \"kind\", but images have no columns",
		"{a: {path: x.csv, domain_value: kind}, b: {path: y.csv}}": "x.csv: domain_value is for rows with a domain_column",
	} {
		file, err := Parse("c.yaml", []byte(own(domains, "[a-b]")))
		if err == nil {
			_, err = file.Resolve("a-b", "full", "iwdan", 1)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", domains, err, want)
		}
	}
}

// A network's pretrained weights are looked for before anything begins.
func TestMissingWeights(t *testing.T) {
	root := t.TempDir()
	for _, folder := range []string{"a/cat", "b"} {
		testfiles.MakeFolder(t, filepath.Join(root, folder))
	}
	there := filepath.Join(root, "there.pth")
	testfiles.Write(t, there, "")
	for network, want := range map[string]string{
		"{name: resnet50, pretrained: /no/resnet50-19c8e357.pth}": "f.yaml:7:39: network.pretrained: stat /no/resnet50-19c8e357.pth: no such file or directory; get the weights of resnet50 with\n" +
			"  curl --create-dirs -o \"/no/resnet50-19c8e357.pth\" https://download.pytorch.org/models/resnet50-19c8e357.pth\nwithout them, network.pretrained: none trains from scratch",
		"{name: resnet18, pretrained: /no/mine.pth}":               "get the weights of resnet18 from https://download.pytorch.org/models/resnet18-5c106cde.pth\n",
		"{name: resnet18, pretrained: /no/mine.pth, frozen: true}": "none trains from scratch, with network.frozen: false and network.views: 0",
		"{name: resnet18, pretrained: none}":                       "",
		"{name: resnet50, pretrained: " + there + "}":              "",
		"{name: lenet}\ndataset: {resize: 28, crop: 28}":           "",
	} {
		text, more, _ := strings.Cut(network, "\ndataset: {")
		text = own("{a: {path: a}, b: {path: b}}", "[a-b]") + "network: " + text + "\n"
		if more != "" {
			text = strings.Replace(text, "root: ROOT", "root: ROOT, "+strings.TrimSuffix(more, "}"), 1)
		}
		err := resolve(t, parse(t, strings.Replace(text, "ROOT", root, 1)), "a-b", "iwdan", 1).CheckData()
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want one with %q", network, err, want)
		}
	}
	for network, want := range map[string]string{
		"{name: lenet}":                                              "dataset.crop is 224; network.name lenet takes images of 28 pixels a side: set dataset.resize and crop to 28",
		"{name: lenet, frozen: true}":                                "dataset.crop is 224",
		"{name: resnet18, pretrained: none, frozen: true}":           "f.yaml:7:39: network.pretrained is none, but network.frozen keeps the backbone as it is",
		"{name: resnet18, pretrained: none, frozen: true, views: 2}": "set network.frozen to false and network.views to 0 to train all of resnet18, or give a file",
	} {
		_, err := parse(t, own("{a: {path: a}, b: {path: b}}", "[a-b]")+"network: "+network+"\n").Resolve("a-b", "full", "iwdan", 1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", network, err, want)
		}
	}
}
