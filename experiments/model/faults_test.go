package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/experiments/model"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/nets/architecture"
	"iwda/torch"
)

// former and latter are models of the same network that differ in all else: the one that a
// folder holds, and the one that replaces it.
func formerAndLatter(t *testing.T) (former, latter []model.Model) {
	t.Helper()
	member := func(seed int, mean float32) model.Model {
		about := describe(architecture.MLP, 4)
		about.Normalisation.Target.Mean = []float32{mean, mean, mean, mean}
		m := makeModel(t, about)
		torch.Tidy(func() {
			state := networkOf(m).State()
			for _, e := range state {
				e.Tensor.Set(e.Tensor.Affine(1+float64(mean)/10, 0))
			}
			m.Weights = weightsOf(state)
		})
		m.Folder = fmt.Sprintf("seed-%d", seed)
		return m
	}
	return []model.Model{member(1, 1), member(2, 2)}, []model.Model{member(2, 3), member(3, 4)}
}

// predictionsOf is what the models of a folder make of a row.
func predictionsOf(models []model.Model) (text string) {
	torch.Tidy(func() {
		for _, m := range models {
			row := []float32{1, 2, 3, 4}
			m.Normalise(row)
			_, logits := networkOf(m).Forward(torch.FromSlice(row, 1, 4), false)
			text += fmt.Sprintln(torch.ToSlice[float32](logits), m.Shares, m.Calibration, m.Classes)
		}
	})
	return text
}

func predicted(folder string) (string, error) {
	models, err := model.Trust{}.OpenEnsemble(folder)
	if err != nil {
		return "", err
	}
	return predictionsOf(models), nil
}

// New weights beside the former model.json, or the other way round, are refused by name.
func TestWeightsOfAnotherModel(t *testing.T) {
	former, latter := formerAndLatter(t)
	for _, name := range []string{model.WeightsFile, model.MetadataFile} {
		folder, other := save(t, former[0]), save(t, latter[0])
		must.Do(t, os.Rename(filepath.Join(other, name), filepath.Join(folder, name)))
		if _, err := (model.Trust{}).Open(folder); err == nil || !strings.Contains(err.Error(), filepath.Join(folder, model.WeightsFile)+": it has the SHA-256 ") {
			t.Errorf("another %s: error %v", name, err)
		}
	}
}

// A model folder of former versions, which states no SHA-256, is read.
func TestFormerModelFolder(t *testing.T) {
	folder := save(t, makeModel(t, describe(architecture.MLP, 4)))
	want := must.Have(predicted(folder))(t)
	path := filepath.Join(folder, model.MetadataFile)
	text := testfiles.Read(t, path)
	lines := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"), func(line string) bool {
		return strings.HasPrefix(line, `  "seal"`) || strings.HasPrefix(line, `  "weights_sha256"`)
	})
	testfiles.Write(t, path, strings.Join(lines, ""))
	if got, err := predicted(folder); err != nil || got != want || len(text)-len(strings.Join(lines, "")) < 128 {
		t.Errorf("error %v\n%s", err, got)
	}
}

// The folder of a run takes no model: its model.json belongs to its checkpoint.
func TestRunsFolderIsNotReplaced(t *testing.T) {
	former, _ := formerAndLatter(t)
	folder := filepath.Join(t.TempDir(), "seed-1")
	testfiles.MakeFolder(t, folder)
	touch(t, filepath.Join(folder, "config.yaml"))
	touch(t, filepath.Join(folder, "model.json"))
	must.Fail(t, model.Save(folder, former[0]), folder+" is the folder of a run")
	must.Fail(t, model.Save(filepath.Dir(folder), former...), folder+" is the folder of a run")
}

// Every byte of a model folder and of a checkpoint that is flipped, zeroed or the first one that
// is missing is noticed, or what is predicted is the same.
func TestEveryByteCounts(t *testing.T) {
	former, _ := formerAndLatter(t)
	folder, run := save(t, former[0]), filepath.Join(t.TempDir(), "run")
	testfiles.MakeFolder(t, run)
	place := filepath.Join(run, "checkpoint.safetensors")
	torch.Tidy(func() { writeCheckpoint(t, place, networkOf(former[0]).State()) })
	must.Do(t, former[0].Write(nil, run))
	want := predictionsOf(former[:1])
	refused, same := 0, 0
	for _, path := range []string{filepath.Join(folder, model.MetadataFile), filepath.Join(folder, model.WeightsFile), filepath.Join(run, model.MetadataFile), place} {
		whole := testfiles.Read(t, path)
		step := max(1, len(whole)/150)
		if os.Getenv("IWDA_TORTURE") != "" {
			step = 1
		}
		for at := 0; at < len(whole); at += step {
			flipped, zeroed := slices.Clone(whole), slices.Clone(whole)
			flipped[at] ^= 1 << (at / step % 8)
			zeroed[at] = 0
			for how, damaged := range map[string][]byte{"a bit flipped": flipped, "zeroed": zeroed, "missing, with all after it": whole[:at]} {
				testfiles.Write(t, path, string(damaged))
				got, err := predicted(filepath.Dir(path))
				switch {
				case err != nil && strings.Contains(err.Error(), filepath.Dir(path)):
					refused++
				case err == nil && got == want:
					same++
				default:
					t.Fatalf("%s, byte %d %s: %v\n%s", path, at, how, err, got)
				}
			}
		}
		testfiles.Write(t, path, string(whole))
	}
	t.Logf("%d refused, %d of the same predictions", refused, same)
	if refused < 100*same {
		t.Errorf("%d refused, but %d not noticed", refused, same)
	}
}
