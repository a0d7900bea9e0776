package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Resolved is the configuration of one run: all overrides and assignments are in
// its settings.
type Resolved struct {
	Experiment string
	Title      string
	Task       string // source-target
	Variant    string
	Method     string // a name that ParseMethod knows
	Seed       int64
	Settings

	rootLocation string // of dataset.root, for CheckData
}

// Resolve returns the configuration of the run of a method on a variant of a task.
// All four must be in the lists of f.Config. The error is of type Errors.
func (f *File) Resolve(task, variant, method string, seed int64) (Resolved, error) {
	d := newDecoder(f.locate)
	requireListed(d, f.Name, "task", task, f.Config.Tasks)
	requireListed(d, f.Name, "variant", variant, f.Config.Variants)
	requireListed(d, f.Name, "method", method, f.Config.Methods)
	requireListed(d, f.Name, "seed", seed, f.Config.Seeds)
	if len(d.errors) > 0 {
		return Resolved{}, d.errors
	}

	d.at = maps.Clone(f.at)
	whole := conditional{Settings: f.base.Settings}
	for _, o := range f.overrides {
		if o.when.match(task, variant, method, seed) {
			d.locate = o.locate
			d.decodeStruct(o.node, &whole)
		}
	}
	doc := document{Config: Config{Settings: whole.Settings}}
	f.decodeAssignments(d, &doc)

	if doc.Train.Optimizer.Nesterov && doc.Train.Optimizer.Momentum == 0 {
		d.failAt(d.at["train.optimizer.nesterov"], "train.optimizer.nesterov needs train.optimizer.momentum above 0")
	}
	return Resolved{
		Experiment: f.Config.Experiment, Title: f.Config.Title,
		Task: task, Variant: variant, Method: method, Seed: seed,
		Settings:     doc.Settings,
		rootLocation: firstOf(d.at, "dataset.root", "dataset"),
	}, d.errors.orNil()
}

func requireListed[T comparable](d *decoder, file, kind string, value T, list []T) {
	if slices.Contains(list, value) {
		return
	}
	var names []string
	for _, listed := range list {
		names = append(names, fmt.Sprint(listed))
	}
	d.failAt(file, "has no %s %v; %s", kind, value, suggestion(fmt.Sprint(value), names))
}

func firstOf(at map[string]string, paths ...string) string {
	for _, path := range paths {
		if location, ok := at[path]; ok {
			return location
		}
	}
	return ""
}

// Domains returns the names of the task's source and target.
func (r Resolved) Domains() (source, target string) {
	source, target, _ = strings.Cut(r.Task, "-")
	return source, target
}

// CheckData returns an Error that names dataset.root where the folder of the run's
// data set does not exist. Data sets that are generated need none.
func (r Resolved) CheckData() error {
	if data, ok := findDataset(r.Dataset.Name); ok && data.root == "" {
		return nil
	}
	info, err := os.Stat(r.Dataset.Root)
	problem := ""
	switch {
	case os.IsNotExist(err):
		problem = "does not exist"
	case err != nil:
		problem = "cannot be opened: " + err.Error()
	case !info.IsDir():
		problem = "is not a folder"
	default:
		return nil
	}
	return Error{r.rootLocation, fmt.Sprintf("dataset.root: %q %s; set IWDA_DATA to the folder that holds %q, or dataset.root to the folder of the data",
		r.Dataset.Root, problem, r.Dataset.Name)}
}

// YAML returns r as an experiment file with this one run, all keys given. Parse and
// Resolve turn it into the same configuration again.
func (r Resolved) YAML() ([]byte, error) {
	var buffer bytes.Buffer
	encoder := yaml.NewEncoder(&buffer)
	encoder.SetIndent(2)
	err := encoder.Encode(Config{
		Experiment: r.Experiment, Title: r.Title,
		Tasks: []string{r.Task}, Variants: []string{r.Variant}, Methods: []string{r.Method}, Seeds: []int64{r.Seed},
		Settings: r.Settings,
	})
	if err != nil {
		return nil, fmt.Errorf("configuration of a run as YAML: %w", err)
	}
	return buffer.Bytes(), nil
}

// Hash identifies what determines the result of the run: the first 16 hexadecimal
// digits of the SHA-256 of the lines key=value, sorted, of task, variant, method,
// seed and all settings. Left out are experiment, title and dataset.root, which
// change no result, and keys with their zero value, so that a new key whose zero
// value means "as before" keeps the hashes of finished runs.
func (r Resolved) Hash() string {
	lines := []string{
		fmt.Sprintf("task=%q", r.Task),
		fmt.Sprintf("variant=%q", r.Variant),
		fmt.Sprintf("method=%q", r.Method),
		fmt.Sprintf("seed=%d", r.Seed),
	}
	for _, leaf := range leaves("", reflect.ValueOf(r.Settings)) {
		if leaf.name != "dataset.root" && !leaf.value.IsZero() {
			lines = append(lines, fmt.Sprintf("%s=%#v", leaf.name, leaf.value.Interface()))
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])[:16]
}
