package adapt

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/predict"
	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/table"
	"iwda/experiments/model"
	"iwda/internal/evenly"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// wordyDomains writes a source and a target whose columns are words, and numbers with gaps, in the
// target with a word too.
func wordyDomains(t *testing.T) (source, target string) {
	t.Helper()
	random, folder := rand.New(rand.NewPCG(3, 4)), t.TempDir()
	write := func(name string, rows int, labelled bool, colours ...string) string {
		var text strings.Builder
		text.WriteString("height,colour,name,legs,label\n")
		for i := range rows {
			class, height, label := i%2, "", ""
			if random.IntN(10) > 0 {
				height = fmt.Sprintf("%.3f", random.NormFloat64()+float64(class))
			}
			legs := fmt.Sprint(random.IntN(5))
			if labelled {
				label = []string{"cat", "dog"}[class]
			} else if i == 7 {
				legs = "three"
			}
			fmt.Fprintf(&text, "%s,%s,%s %d,%s,%s\n", height, colours[class*2+random.IntN(2)], name, i, legs, label)
		}
		path := filepath.Join(folder, name)
		testfiles.Write(t, path, text.String())
		return path
	}
	return write("source.csv", 120, true, "red", "blue", "green", ""), write("target.csv", 90, false, "red", "violet", "green", "NA")
}

// Words and gaps are encoded by what the source has, for training and by the model: raw rows
// are predicted as those that training saw.
func TestWords(t *testing.T) {
	source, target := wordyDomains(t)
	folder := filepath.Join(t.TempDir(), "out")
	outcome := must.Have(runHere(context.Background(), source, target, Options{Folder: folder, Set: small, Probabilities: true}))(t)
	if w := outcome.Warnings; !slices.ContainsFunc(w, func(w string) bool { return strings.HasPrefix(w, `Column "name" of `) }) {
		t.Errorf("%q", w)
	}
	stray := fmt.Sprintf(`olumn "legs": %s:9: "three" is not a number and counts as missing`, target)
	if !slices.Contains(outcome.Warnings, "C"+stray+".") {
		t.Errorf("%q", outcome.Warnings)
	}
	members := must.Have(model.Trust{}.OpenEnsemble(folder))(t)
	want := []string{"height", "height is missing", "colour=green", "colour=red", "colour=blue", "colour is missing", "legs", "legs is missing"}
	got := members[0].Input.Columns
	if sorted := slices.Sorted(slices.Values(got)); !slices.Equal(sorted, slices.Sorted(slices.Values(want))) {
		t.Errorf("%q", got)
	}
	predicted := testfiles.Read(t, filepath.Join(folder, names.Predictions))
	violet := fmt.Sprintf(`olumn "colour": %s:4: "violet" is none of this column's words in `, target)
	if !slices.ContainsFunc(outcome.Warnings, func(w string) bool { return strings.HasPrefix(w, "C"+violet+source) }) {
		t.Errorf("%q", outcome.Warnings)
	}
	for name, input := range map[string]string{"raw": target, "encoded": encodedRows(t, source, target)} {
		output := filepath.Join(t.TempDir(), "predictions.csv")
		request := predict.Request{Inputs: []string{input}, Shares: predict.ModelShares, Output: output, Probabilities: true}
		written := must.Have(predict.Write(context.Background(), members, request, predict.Options{Torch: iwrunTorch, Threads: 1, Batch: predict.DefaultBatch}))(t)
		if raw := name == "raw"; raw != (len(written.Strays) == 2 && strings.HasPrefix(written.Strays[0], "c"+violet) && written.Strays[1] == "c"+stray) || !raw && written.Strays != nil {
			t.Errorf("%s rows: %q", name, written.Strays)
		}
		if again, err := os.ReadFile(output); err != nil || !bytes.Equal(again, predicted) {
			t.Errorf("%s rows: other predictions, %v", name, err)
		}
	}
}

// encodedRows writes the target's rows as training reads them.
func encodedRows(t *testing.T, source, target string) string {
	t.Helper()
	data := must.Have(catalogue.Find("files"))(t)
	data = must.Have(data.Of([]catalogue.Files{{Domain: "s", Path: source}, {Domain: "t", Path: target}}))(t)
	task := must.Have(data.OpenTask("s", "t", catalogue.Source{}))(t)
	defer task.Close()
	values := make([]float32, task.Target.Len()*datasets.Size(task.Target.Shape()))
	datasets.CopyRows(values, task.Target, evenly.All(task.Target.Len()))
	path := filepath.Join(t.TempDir(), "encoded.npz")
	testfiles.Rows(t, path, datasets.Size(task.Target.Shape()), values, "", nil)
	if file, err := table.Open(path, table.Options{}); err != nil || file.Width() != 8 {
		t.Fatal(file, err)
	}
	return path
}
