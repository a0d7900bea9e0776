package adapt

import (
	"path/filepath"
	"strings"
	"testing"

	"iwda/classshares"
	"iwda/experiments/adapt/names"
	"iwda/experiments/judge"
	"iwda/experiments/labels"
	"iwda/floor"
	"iwda/internal/wholefile"
)

// The verdict is the first sentence, and an expected accuracy and a floor are said, or why there
// are none.
func TestSentencesOfTrust(t *testing.T) {
	for _, c := range []struct {
		trust judge.Trust
		want  []string
		not   string
	}{
		{
			judge.Trust{Expected: &classshares.Accuracy{Value: 0.987, Low: 0.981, High: 0.993}, Confident: 0.975, Floor: &floor.Floor{Value: 0.85, Discrepancy: 0.123}},
			[]string{"98.7% of the predictions should be right (98.1 to 99.3%)", "thresholded confidence estimates 97.5%", "At least 85.0% of the predictions should be right, unless", "the linear rule on the logits of full/a-b/source-only/seed-1 that contradicts the predictions most: it contradicts a share of them that is 12.3 points larger in the target than in the source."}, "cannot be estimated",
		},
		{
			judge.Trust{Untold: "nobody knows", Unfloored: "too few rows"},
			[]string{"The accuracy on the target cannot be estimated without labels: nobody knows.", "No lower bound of the accuracy is known: too few rows."}, "should be right",
		},
	} {
		o := conclusion{Choice: judge.Choice{Judged: []judge.Judgement{judged("source-only/seed-1", 0.5)}, Methods: []judge.Method{{Name: "source-only", Runs: []int{0}}}}, Trust: c.trust}
		o.Shared.Run = "full/a-b/source-only/seed-1"
		why := o.Why()
		if !strings.HasPrefix(why[0], "Verdict: ") {
			t.Errorf("first %q", why[0])
		}
		text := strings.Join(why[1:], "\n")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		if strings.Contains(text, c.not) {
			t.Errorf("%q is in\n%s", c.not, text)
		}
	}
}

// A shell reads the commands in sentences, whatever the folder's name.
func TestSentencesHaveCommands(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "an out")
	p := &Plan{options: Options{Folder: folder}}
	if err := new(wholefile.Disk).MakeFolder(folder); err != nil {
		t.Fatal(err)
	}
	evaluate := "iwrun evaluate '" + folder + "' '" + folder + "/to_label.csv' says "
	o := conclusion{Folder: folder, Choice: judge.Choice{Judged: []judge.Judgement{judged("mcc/seed-1", 0.5), judged("mcc/seed-2", 0.5)}, Methods: []judge.Method{{Name: "mcc", Runs: []int{0, 1}}}}}
	if text := strings.Join(o.Why(), "\n"); !strings.Contains(text, "iwrun predict '"+folder+"', ") {
		t.Errorf("no command to predict in\n%s", text)
	}
	for _, class := range []string{"a", "b"} {
		draw := labels.NewDraw(1, false, 1)
		draw.Add("1", class, 0.5)
		if err := o.writeToLabel(p, draw); err != nil || strings.Contains(o.kept, evaluate) != (class == "b") {
			t.Errorf("class %s: %v; said of what is kept\n%s", class, err, o.kept)
		}
		if err := wholefile.WriteText(p.path(names.ToLabel), "id,label\n1,a\n"); err != nil {
			t.Fatal(err)
		}
	}
}
