package cluster

import (
	"slices"
	"strings"
	"testing"
)

// task uses all that a manifest can hold.
func task() Kubernetes {
	return Kubernetes{
		Experiment: Experiment{
			Name: "Office_31.b", Config: []byte("experiment: Office_31.b\n# a comment\n"),
			Set: []string{"title=$(HOME) $$ it's"}, Arguments: []string{"--checkpoint-every=10m", "--overwrite=true"},
		},
		Runs: 140, Image: "registry.example/iwda:1", Claim: "work", DataClaim: "data", Results: "results",
		AtOnce: 16, CPUs: 4, Memory: "16Gi", GPU: true, Namespace: "vision",
	}
}

// TestManifest compares with a file that tools/kubernetes checks against Kubernetes' own
// types.
func TestManifest(t *testing.T) {
	manifest, err := task().Manifest()
	if err != nil {
		t.Fatal(err)
	}
	expectGolden(t, "job.yaml", string(manifest))
}

// Tasks need no rights beyond those of any user.
func TestManifestGivesNoPrivileges(t *testing.T) {
	manifest, err := task().Manifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"runAsNonRoot: true", "allowPrivilegeEscalation: false", "drop: [ALL]", "type: RuntimeDefault"} {
		if !strings.Contains(string(manifest), " "+line+"\n") {
			t.Errorf("%q is not in\n%s", line, manifest)
		}
	}
}

func TestSmallManifest(t *testing.T) {
	k := Kubernetes{
		Experiment: Experiment{Name: "demo", Config: []byte("experiment: demo\n")},
		Runs:       6, Image: "iwda", Claim: "work", Results: "results", AtOnce: 8, CPUs: 1,
	}
	manifest, err := k.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	expectGolden(t, "job-small.yaml", string(manifest))
}

// TestManifestNames: another experiment, in whatever respect, is another Job.
func TestManifestNames(t *testing.T) {
	name := func(change func(*Kubernetes)) string {
		k := task()
		change(&k)
		manifest, err := k.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(manifest), "  name: ")
		name, _, _ := strings.Cut(rest, "\n")
		if strings.Count(string(manifest), name) != 3 { // ConfigMap, Job, its volume
			t.Errorf("%s in\n%s", name, manifest)
		}
		return name
	}
	names := []string{
		name(func(*Kubernetes) {}),
		name(func(k *Kubernetes) { k.Config = append(k.Config, '#') }),
		name(func(k *Kubernetes) { k.Set = nil }),
		name(func(k *Kubernetes) { k.CPUs = 2 }),
		name(func(k *Kubernetes) { k.Name = strings.Repeat("x", 100) }),
	}
	if again := name(func(*Kubernetes) {}); again != names[0] || !strings.HasPrefix(again, "office-31-b-") {
		t.Errorf("%s, then %s", names[0], again)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != 5 {
		t.Errorf("names: %q", names)
	}
	for _, name := range names {
		if len(name)+len("-100000") > 63 {
			t.Errorf("%s is too long for the name of a host", name)
		}
	}
}

func TestLabel(t *testing.T) {
	for name, want := range map[string]string{"Digits-1": "digits-1", "__": "experiment", "a.b_c-": "a-b-c"} {
		if got := label(name); got != want {
			t.Errorf("%s became %s, want %s", name, got, want)
		}
	}
}

func TestManifestMistakes(t *testing.T) {
	for want, change := range map[string]func(*Kubernetes){
		"image":          func(k *Kubernetes) { k.Image = "" },
		"claim":          func(k *Kubernetes) { k.Claim = "" },
		"/results":       func(k *Kubernetes) { k.Results = "/results" },
		"../results":     func(k *Kubernetes) { k.Results = "../results" },
		`memory "16 GB"`: func(k *Kubernetes) { k.Memory = "16 GB" },
	} {
		k := task()
		change(&k)
		if manifest, err := k.Manifest(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\n%s", want, err, manifest)
		}
	}
}
