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

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/judge"
	"iwda/adaptation/labels"
	"iwda/datasets/catalogue"
	"iwda/inference/trust"
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
	f.say("source", source[0])
	for _, of := range source[1:] {
		f.say("", of)
	}
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
	f.say("training", p.stages.lengths())
	f.show("folder", []string{p.options.Folder}, f.Plain)
	f.warn(p.Warnings)
}

// Print shows what came of an adaptation whose folder that is: what is known, whether it is enough, the
// classes, and what to do next.
func (o *Outcome) Print(to io.Writer, folder string) {
	f := newFacts(to)
	style := f.Yellow
	if o.Reliable == trust.Yes {
		style = f.Green
	}
	f.show("known", f.wrapped(printable.Sentence(o.Headline)), style)
	for _, a := range o.Needs {
		said := fmt.Sprintf("%s: %s", a.Need, a.Answer)
		if a.Because != o.Headline {
			said += fmt.Sprintf(" (%s)", a.Because)
		}
		f.say("need", said)
	}
	fmt.Fprintln(f.to)
	f.cases(o.Cases)
	fmt.Fprintln(f.to)
	f.table(o.Classes)
	if o.SharesRejected != "" {
		f.say("", "* mean of the probabilities, which errs too: the class shares cannot be estimated, because "+o.SharesRejected)
	}
	fmt.Fprintln(f.to)
	f.say("predicts", o.predicts())
	if m := o.Measured; m != nil && !m.all() {
		f.say("labels", m.String())
	}
	f.warn(o.Warnings)
	f.show("next", o.next(folder), f.Bold)
	f.show("files", o.files(folder), f.Plain)
}

// cases shows what may have happened, with the accuracy that follows from it and what speaks for it.
func (f facts) cases(cases []trust.Case) {
	width := len("what may have happened")
	for _, c := range cases {
		width = max(width, len(c.If))
	}
	fmt.Fprintln(f.to, f.Bold(fmt.Sprintf("%-*s  accuracy of the predictions", width, "what may have happened")))
	for _, c := range cases {
		said := c.Accuracy.String()
		if said == "" {
			said = "not known"
		}
		fmt.Fprintf(f.to, "%-*s  %s\n", width, c.If, said)
		for _, reason := range []struct{ name, text string }{{"for", c.For}, {"against", c.Against}, {"because", c.Missing}} {
			if reason.text != "" {
				f.show("  "+reason.name, f.wrapped(reason.text), f.Faint)
			}
		}
	}
}

// predicts says which runs do.
func (o *Outcome) predicts() string {
	mean := "the mean of "
	if len(o.Used) == 1 {
		mean = ""
	}
	methods := strings.Split(o.Method, "+")
	for i, name := range methods {
		vote := 0.0
		for j, of := range o.Votes {
			if judge.MethodOf(o.Used[j]) == name {
				vote += of
			}
		}
		if len(methods) > 1 && o.Votes != nil {
			methods[i] = fmt.Sprintf("%s (%.0f%%)", name, 100*vote)
		}
	}
	return fmt.Sprintf("%s%d of %s: %s", mean, len(o.Used), printable.Count(len(o.Runs), "run"), printable.And(methods))
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
	for _, file := range []struct{ key, holds string }{
		{"report", "everything, with pictures, for a browser"},
		{"predictions", "the predicted classes of " + printable.Count(o.Target.Rows, "row")},
		{"classes", "class shares and weights"},
		{"model", "for iwrun predict and iwrun export"},
	} {
		path := filepath.Join(folder, o.Files[file.key])
		if names.Exists(path) {
			fmt.Fprintf(aligned, "%s\t%s\n", path, file.holds)
		}
	}
	aligned.Flush()
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

// The bounds of the table: the most classes, and the longest name of one, which is shorter if the
// terminal has no room for it.
const (
	mostRows   = 20
	mostName   = 30
	fewestName = 10
)

// shortened is a name in at most so many columns of the terminal.
func shortened(name string, most int) string {
	letters := []rune(name)
	if len(letters) > most {
		letters = append(letters[:most-1], '…')
	}
	for uniseg.StringWidth(string(letters)) > most {
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
	fmt.Fprintln(aligned, "source\ttarget\t95% interval\tpredicted\trecall\tprecision\t")
	percent := func(n *trust.Number) string {
		switch n := n.Of(); {
		case n.Value == nil:
			return "–"
		case n.Low == nil || *n.Low == *n.High:
			return fmt.Sprintf("%.0f%%", 100**n.Value)
		default:
			return fmt.Sprintf("%.0f%% (%.0f–%.0f)", 100**n.Value, 100**n.Low, 100**n.High)
		}
	}
	for _, c := range shown {
		target, interval := fmt.Sprintf("%.1f%%", 100*c.TargetShare), "–"
		if c.ShareRejected {
			target = fmt.Sprintf("%.1f%%*", 100*c.MeanProbability)
		}
		if i := c.TargetInterval; i != nil && i.Low == 0 && i.High < 0.5 {
			interval = fmt.Sprintf("at most %.1f%%", 100*i.High)
		} else if i != nil {
			interval = fmt.Sprintf("%.1f–%.1f%%", 100*i.Low, 100*i.High)
		}
		fmt.Fprintf(aligned, "%.1f%%\t%s\t%s\t%.1f%%\t%s\t%s\t\n", 100*c.SourceShare, target, interval, 100*c.PredictedShare, percent(c.Recall), percent(c.Precision))
	}
	aligned.Flush()
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	names, width, most := []string{"class"}, len("class"), min(mostName, max(fewestName, f.width-uniseg.StringWidth(lines[0])))
	for _, c := range shown {
		name := shortened(printable.Line(c.Class), most)
		names, width = append(names, name), max(width, uniseg.StringWidth(name))
	}
	style := f.Bold
	for i, line := range lines {
		fmt.Fprintln(f.to, style(names[i]+strings.Repeat(" ", width-uniseg.StringWidth(names[i]))+line))
		style = f.Plain
	}
	if more := len(classes) - len(shown); more > 0 {
		fmt.Fprintln(f.to, f.Faint(fmt.Sprintf("and %d more classes", more)))
	}
}
