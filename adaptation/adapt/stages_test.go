package adapt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/adaptation/adapt/names"
	"iwda/experiments/schedule"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// moved writes the rows of a file of two columns anew, which move so far, and returns its path.
func moved(t *testing.T, path string, first, second float64) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(testfiles.Read(t, path))), "\n")
	for i, line := range lines[1:] {
		var x, y float64
		must.Have(fmt.Sscanf(line, "%f,%f", &x, &y))(t)
		lines[i+1] = fmt.Sprintf("%.4f,%.4f", x+first, y+second)
	}
	return writeFile(t, t.TempDir(), "moved.csv", strings.Join(lines, "\n")+"\n")
}

// Those methods are made that can predict by what the linear classifier finds, though it is interrupted
// before or after that is known. Others would change nothing; if somebody makes them, labels may choose one.
func TestWhatNeverPredictsIsNotMade(t *testing.T) {
	source, target := bothDomains(t)
	ctx := context.Background()
	for name, c := range map[string]struct {
		form, target string
		made, all    int
		absent       []string
	}{
		"shares":  {Array, target, 5, 7, []string{"iwcdan@own", "iwcdan@matched"}},
		"moved":   {Array, moved(t, target, 30, 0), 6, 7, []string{"source-only"}},
		"a table": {Table, target, 4, 6, []string{"source-only@linear-own", "source-only@boosting-own"}},
	} {
		o := Options{Folder: filepath.Join(t.TempDir(), "out"), Columns: Naming{Form: c.form}, Set: []string{"seeds=[1]", "train.epochs=4", "network.features=8"}}
		all := o
		all.Folder = filepath.Join(t.TempDir(), "all")
		all.Train = func(ctx context.Context, of Training) ([]schedule.Failure, error) {
			of.Sure = len(of.Runs)
			return o.trainHere(ctx, of)
		}
		whole := must.Have(runHere(ctx, source, c.target, all))(t)
		for _, before := range []int{1, 4} { // of four it is sure
			interrupted := o
			interrupted.Train = func(ctx context.Context, of Training) ([]schedule.Failure, error) {
				if of.Sure != 4 || of.Runs[0].ID.Method != "source-only@linear" {
					t.Errorf("%s: sure of %d after %s", name, of.Sure, of.Runs[0].ID.Method)
				}
				of.Runs = of.Runs[:before]
				_, err := o.trainHere(ctx, of)
				return nil, errors.Join(err, context.Canceled)
			}
			if _, err := runHere(ctx, source, c.target, interrupted); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		outcome := must.Have(runHere(ctx, source, c.target, o))(t)
		predictions := testfiles.Read(t, filepath.Join(o.Folder, names.Predictions))
		if string(testfiles.Read(t, filepath.Join(all.Folder, names.Predictions))) != string(predictions) || outcome.Method != whole.Method {
			t.Errorf("%s: %s predicts, and %s if all are made", name, outcome.Method, whole.Method)
		}
		check := func(what string, made int, noted bool) {
			t.Helper()
			runs := must.Have(finished(o.Folder))(t)
			labelled := writeFile(t, t.TempDir(), "labels.csv", "id,label\n0,cat\n1,cat\n40,dog\n41,dog\n")
			e := must.Have(evaluateHere(ctx, o.Folder, labelled, EvaluateOptions{}))(t)
			said := slices.ContainsFunc(e.Notes, func(note string) bool {
				return strings.Contains(note, strings.Join(c.absent, " and ")+". To compare such methods too: iwrun run -c") && strings.Contains(note, "--only '*/*/"+c.absent[0]+"/*'")
			})
			if len(runs) != made || len(e.Methods) != made || said != noted {
				t.Errorf("%s, %s: %d runs, methods %+v, notes %q", name, what, len(runs), e.Methods, e.Notes)
			}
		}
		if len(outcome.Runs) != c.made {
			t.Errorf("%s: of %d runs", name, len(outcome.Runs))
		}
		check("as they are needed", c.made, true)
		o.Train = all.Train
		again := must.Have(runHere(ctx, source, c.target, o))(t)
		if len(again.Runs) != c.made || string(testfiles.Read(t, filepath.Join(o.Folder, names.Predictions))) != string(predictions) {
			t.Errorf("%s: beside others of %d runs", name, len(again.Runs))
		}
		check("all", c.all, false)
	}
}

// In a table that has moved two classifiers with each domain's own statistics have a quarter of the votes, and the
// model, which keeps these statistics, predicts as they do.
func TestOwnStatisticsInATable(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	table := func(name string, by float64) string {
		text := "a,b,c,d,label\n"
		for i := range 200 {
			for column := range 4 {
				text += fmt.Sprintf("%.4f,", random.NormFloat64()+by+float64(i%2*column))
			}
			text += []string{"cat", "dog"}[i%2] + "\n"
		}
		return writeFile(t, t.TempDir(), name, text)
	}
	o := Options{Folder: filepath.Join(t.TempDir(), "out")}
	outcome := must.Have(runHere(context.Background(), table("source.csv", 0), table("target.csv", 1), o))(t)
	own := 0.0
	for i, run := range outcome.Used {
		if strings.Contains(run, "-own/") {
			own += outcome.Votes[i]
		}
	}
	if math.Abs(own-0.25) > 1e-9 || len(outcome.Runs) != 6 || outcome.Cases[1].Against == "" {
		t.Errorf("%v have the votes %v; against a selection speaks %q", outcome.Used, outcome.Votes, outcome.Cases[1].Against)
	}
}

// All are made if the linear classifier fails, and what somebody has added is made in any case. That is said beforehand.
func TestWhatIsMadeInAnyCase(t *testing.T) {
	source, target := bothDomains(t)
	o := Options{Folder: filepath.Join(t.TempDir(), "out"), Columns: Naming{Form: Array}, Set: []string{"seeds=[1]", "train.epochs=4", "network.features=8"}, Torch: iwrunTorch}
	p := must.Have(NewPlan([]string{source}, target, o))(t)
	if said, want := p.stages.lengths(), "at most 7 runs: 3 without steps, 4 of 4 epochs; source-only@linear decides whether 5 or 6"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
	o.Train = func(ctx context.Context, of Training) ([]schedule.Failure, error) {
		first := of.Runs[0]
		of.Runs, of.Sure = of.Runs[1:], of.Sure-1
		failed, err := o.trainHere(ctx, of)
		return append(failed, schedule.Failure{Run: first, Reason: "no memory"}), err
	}
	if outcome := must.Have(runHere(context.Background(), source, target, o))(t); len(outcome.Runs) != 6 || len(outcome.Failed) != 1 {
		t.Errorf("%d runs, failed %+v", len(outcome.Runs), outcome.Failed)
	}
	o.Folder = filepath.Join(t.TempDir(), "more")
	for methods, sure := range map[string]int{
		"source-only@linear, source-only, mcc, iwcdan@own, dan": 3, "source-only@linear, mcc, dan": 3, "source-only, iwcdan@own": 2, "iwcdan@own, dan": 2,
	} {
		o.Set = []string{"seeds=[1]", "methods=[" + methods + "]"}
		if p := must.Have(NewPlan([]string{source}, target, o))(t); p.stages.sure != sure {
			t.Errorf("%s: sure of %d", methods, p.stages.sure)
		}
	}
	o.Set = []string{"seeds=[1]", "selection.rule=target-risk"}
	if p := must.Have(NewPlan([]string{source}, target, o))(t); p.stages.sure != len(p.Runs) {
		t.Errorf("by a rule of all methods: sure of %d", p.stages.sure)
	}
}
