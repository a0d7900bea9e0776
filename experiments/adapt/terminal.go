package adapt

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/rivo/uniseg"

	"iwda/datasets/catalogue"
	"iwda/experiments/adapt/names"
	"iwda/experiments/labels"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/printable"
)

// facts are lines with a name before them.
type facts struct {
	printable.Style
	to    io.Writer
	width int
}

func newFacts(to io.Writer) facts {
	styled, style := printable.Styled(to)
	return facts{style, styled, printable.Width(to)}
}

// indent is as wide as the names of facts.
const indent = "            "

// say writes a text, in lines as wide as the terminal.
func (f facts) say(name, text string) { f.show(name, f.wrapped(text), f.Plain) }

func (f facts) wrapped(text string) []string {
	return strings.Split(printable.Wrap(text, f.width-len(indent), ""), "\n")
}

// show writes lines in a style.
func (f facts) show(name string, lines []string, style func(string) string) {
	for _, line := range lines {
		fmt.Fprintln(f.to, f.Faint(fmt.Sprintf("%-*s", len(indent), name))+style(line))
		name = ""
	}
}

func (f facts) warn(warnings []string) {
	for _, warning := range warnings {
		f.show("warning", f.wrapped(warning), f.Yellow)
	}
}

// Print shows what was seen and decided before training.
func (p *Plan) Print(to io.Writer) {
	f := newFacts(to)
	source, target := p.Data.seen()
	f.say("source", source)
	f.say("target", target)
	of := "columns"
	if p.Data.Kind == catalogue.ImageFiles {
		of = "images"
	}
	for _, sentence := range p.Data.Said {
		f.say(of, sentence)
	}
	for _, d := range p.decisions() {
		f.say(d.About, d.Choice)
	}
	f.say("training", plan.Lengths(p.Runs))
	f.show("folder", []string{p.options.Folder}, f.Plain)
	f.warn(p.Warnings)
}

// Print shows what came of an adaptation whose folder that is: the verdict, the classes, and
// what to do next.
func (o *Outcome) Print(to io.Writer, folder string) {
	f := newFacts(to)
	claim := f.Green
	if o.Verdict.Reliable != Both {
		claim = f.Yellow
	}
	f.show("verdict", f.wrapped(o.Verdict.claim()), claim)
	f.say("because", o.Verdict.Because)
	fmt.Fprintln(f.to)
	f.table(o.Classes)
	fmt.Fprintln(f.to)
	f.say("predicts", o.predicts())
	f.say("accuracy", o.accuracy())
	f.warn(o.Warnings)
	f.show("next", o.next(folder), f.Bold)
	f.show("files", o.files(folder), f.Plain)
}

// predicts says which runs do.
func (o *Outcome) predicts() string {
	mean := "the mean of "
	if len(o.Used) == 1 {
		mean = ""
	}
	return fmt.Sprintf("%s%d of %s: %s", mean, len(o.Used), printable.Count(len(o.Runs), "run"), printable.And(strings.Split(o.Method, "+")))
}

// accuracy says how much of the target is right, as far as that is known.
func (o *Outcome) accuracy() string {
	if o.Measured.all() {
		return o.Measured.String()
	}
	known := "cannot be estimated without labels"
	if !strings.Contains(o.Verdict.Because, o.Withheld) {
		known += ": " + o.Withheld
	}
	switch c, e, m := o.Labels, o.ExpectedAccuracy, o.Measured; {
	case c != nil:
		known = fmt.Sprintf("%.1f%% (%.1f to %.1f%%) by %d labels", 100*c.Accuracy.Value, 100*c.Accuracy.Low, 100*c.Accuracy.High, c.Labels)
	case e != nil:
		known = fmt.Sprintf("%.1f%% expected (%.1f to %.1f%%)", 100*e.Value, 100*e.Low, 100*e.High)
		if m != nil {
			known += fmt.Sprintf("; %v", m)
		}
	case m != nil:
		known = m.String()
	}
	if o.Floor != nil {
		known += fmt.Sprintf("; lower bound %.1f%%", 100**o.Floor)
	}
	return known
}

// tellingLabels is a number of labels from which they tell something.
const tellingLabels = 30

// next is what to do to know more.
func (o *Outcome) next(folder string) []string {
	name, drawn := o.Files["to_label"]
	if !drawn || o.Measured.all() {
		return []string{printable.Command("iwrun", "predict", folder, "INPUT", "-o", "FILE")}
	}
	path := filepath.Join(folder, name)
	evaluate := printable.Command("iwrun", "evaluate", folder, path)
	switch s := labels.StateOf(path); {
	case !s.Touched:
	case s.Filled < min(s.Rows, tellingLabels):
		return []string{fmt.Sprintf("label more rows of %s (%d of %d so far), then", path, s.Filled, s.Rows), evaluate}
	default:
		return []string{evaluate}
	}
	return []string{"label the rows of " + path + ", then", evaluate}
}

// files are the paths of what was written, with what it holds.
func (o *Outcome) files(folder string) []string {
	var text strings.Builder
	aligned := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	disputed := fmt.Sprintf("%d of the %d rows on which methods differ", min(o.Disputed, mostDisputed), o.Disputed)
	if o.Target.Rows > store.MostJudged {
		disputed = fmt.Sprintf("%d of the %d disputed rows (%d compared)", min(o.Disputed, mostDisputed), o.Disputed, store.MostJudged)
	}
	for _, file := range []struct{ key, holds string }{
		{"report", "everything, with pictures, for a browser"},
		{"predictions", fmt.Sprintf("the predicted classes of %d rows", o.Target.Rows)},
		{"classes", "class shares and weights"},
		{"disputed", disputed},
		{"model", "for iwrun predict and iwrun export"},
	} {
		path := filepath.Join(folder, o.Files[file.key])
		if names.Exists(path) && (file.key != "disputed" || o.Disputed > 0) {
			fmt.Fprintf(aligned, "%s\t%s\n", path, file.holds)
		}
	}
	aligned.Flush()
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

// The bounds of the table: the most classes, and the longest name of one.
const (
	mostRows = 20
	mostName = 30
)

// shortened is a name in at most mostName columns of the terminal.
func shortened(name string) string {
	letters := []rune(name)
	if len(letters) > mostName {
		letters = append(letters[:mostName-1], '…')
	}
	for uniseg.StringWidth(string(letters)) > mostName {
		letters = append(letters[:len(letters)-2], '…')
	}
	return string(letters)
}

// table shows the classes, of many the most frequent ones.
func (f facts) table(classes []ClassOutcome) {
	shown := slices.Clone(classes)
	if len(shown) > mostRows {
		slices.SortStableFunc(shown, func(a, b ClassOutcome) int { return cmp.Compare(b.TargetShare, a.TargetShare) })
		shown = shown[:mostRows]
	}
	var text strings.Builder
	aligned := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := "source\ttarget\t95% interval\tpredicted\t"
	bounded := slices.ContainsFunc(shown, func(c ClassOutcome) bool { return c.TargetInterval != nil })
	if !bounded {
		head = "source\ttarget\tpredicted\t"
	}
	fmt.Fprintln(aligned, head)
	for _, c := range shown {
		fmt.Fprintf(aligned, "%.1f%%\t%.1f%%\t", 100*c.SourceShare, 100*c.TargetShare)
		if i := c.TargetInterval; i != nil {
			fmt.Fprintf(aligned, "%.1f–%.1f%%", 100*i.Low, 100*i.High)
		}
		if bounded {
			fmt.Fprint(aligned, "\t")
		}
		fmt.Fprintf(aligned, "%.1f%%\t\n", 100*c.PredictedShare)
	}
	aligned.Flush()
	names, width := []string{"class"}, len("class")
	for _, c := range shown {
		name := shortened(printable.Text(c.Class))
		names, width = append(names, name), max(width, uniseg.StringWidth(name))
	}
	style := f.Bold
	for i, line := range strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n") {
		fmt.Fprintln(f.to, style(names[i]+strings.Repeat(" ", width-uniseg.StringWidth(names[i]))+line))
		style = f.Plain
	}
	if more := len(classes) - len(shown); more > 0 {
		fmt.Fprintln(f.to, f.Faint(fmt.Sprintf("and %d more classes", more)))
	}
}
