package adapt

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"iwda/adaptation/adapt/names"
	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/datasets/table"
	"iwda/internal/convert"
	"iwda/internal/evenly"
	"iwda/internal/printable"
)

// CheckData writes what adapt sees in sources and a target, or in one file with both, and what it would do
// with them and the network of [Options]. It trains nothing. The error with which adapt refuses the
// data comes after all that can be said of them.
func CheckData(ctx context.Context, w io.Writer, sources []string, target string, n Naming, network string) error {
	files, said, err := n.files(sources, target)
	if err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintf(w, "%s: %s\n", f.Domain, f)
	}
	onlyInOne(w, files)
	d, wrong := lookAt(files, n.Form, true)
	for _, sentence := range slices.Concat(said, d.Said) {
		fmt.Fprintln(w, sentence)
	}
	if choice, _ := d.together(); choice != "" {
		fmt.Fprintf(w, "groups: %s\n", choice)
	}
	if d.Source.Rows > 0 && d.Target.Rows > 0 {
		fmt.Fprintf(w, "source: %s\n", d.rowsOf(d.Source))
		for _, of := range d.Parts {
			fmt.Fprintf(w, "  %s: %s\n", of.called(), d.rowsOf(of))
		}
		fmt.Fprintf(w, "target: %s\n", d.rowsOf(d.Target))
		if d.images == nil {
			err = d.writeColumns(w)
		} else {
			err = d.writeImages(ctx, w)
		}
		if err != nil {
			return err
		}
	}
	if wrong != nil {
		return wrong
	}
	return d.writePlan(w, network)
}

// onlyInOne says which columns one of the files alone has.
func onlyInOne(w io.Writer, files []catalogue.Files) {
	names, in := make([][]string, len(files)), map[string]int{} // in how many files
	for i, f := range files {
		if !table.Reads(f.Path) {
			return
		}
		names[i], _ = table.Names(f.Path) // which was read before
		for _, name := range names[i] {
			in[name]++
		}
	}
	for i, f := range files {
		var alone []string
		for _, name := range names[i] {
			if in[name] == 1 {
				alone = append(alone, fmt.Sprintf("%.100q", name))
			}
		}
		if alone != nil {
			fmt.Fprintf(w, "only in the %s: %s\n", f.Domain, printable.FirstTen(alone))
		}
	}
}

// rowsOf says how many rows a domain has, and of which classes.
func (d Data) rowsOf(of Domain) string {
	rows := d.Kind.Of(of.Rows)
	if of.labelled() == 0 {
		return fmt.Sprintf("%s%s without labels", rows, of.grouped())
	}
	classes := evenly.All(len(of.Counts))
	slices.SortStableFunc(classes, func(a, b int) int { return of.Counts[b] - of.Counts[a] })
	counts := convert.Each(classes, func(class int) string { return fmt.Sprintf("%.100q %d", d.Classes[class], of.Counts[class]) })
	text := fmt.Sprintf("%s%s of %s: %s", rows, of.grouped(), printable.Count(len(classes), "class"), printable.FirstTen(counts))
	if unknown := of.Rows - of.labelled(); unknown > 0 {
		text += fmt.Sprintf("; %d without a label", unknown)
	}
	return text
}

// columnSeen is a line on a column.
type columnSeen struct {
	name, kind     string
	source, target string // values
	does           string // what adapt does with it
	odd            []string
}

// mostLines are the columns up to which each has a line, and the lines.
const mostLines = 60

// asItIs is what adapt does with numbers.
const asItIs = "as it is"

// says is what adapt does with the column, but for numbers as they are, and what is odd.
func (c columnSeen) says() string {
	if c.does == asItIs {
		return strings.Join(c.odd, "; ")
	}
	return strings.Join(append([]string{c.does}, c.odd...), "; ")
}

// plain tells that there is nothing to see at a column.
func (c columnSeen) plain() bool { return c.odd == nil && c.kind == numberKind }

// writeColumns writes a line a column; of many, only of those at which there is something to see.
func (d Data) writeColumns(w io.Writer) error {
	shown := d.columnsSeen()
	var after []string // lines below the table
	if len(shown) > mostLines {
		worth := slices.DeleteFunc(slices.Clone(shown), columnSeen.plain)
		if plain := len(shown) - len(worth); plain > 0 {
			after = append(after, fmt.Sprintf("%s of numbers, with nothing unusual", printable.Count(plain, "other column")))
		}
		shown = worth[:min(mostLines, len(worth))]
		if left := len(worth) - len(shown); left > 0 {
			after = append(after, printable.Count(left, "column")+" more")
		}
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if fmt.Fprintln(w); len(shown) > 0 {
		fmt.Fprintln(tab, "column\tkind\tsource, mean ± SD\ttarget, mean ± SD\tuse")
	}
	for _, c := range shown {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", c.name, c.kind, c.source, c.target, c.says())
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, line := range after {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	return nil
}

const numberKind = "number"

// columnsSeen lists the columns of the source as they are in the file.
func (d Data) columnsSeen() (all []columnSeen) {
	at := 0 // of the next value of a row
	if d.Learnt.Encoding == nil {
		for ; at < d.Width; at++ {
			c := d.numberSeen(d.Columns.name(at), at, table.LearntColumn{Missing: []int{0, 0}}, table.Coding{})
			c.odd = append(c.odd, d.Columns.beyond[at]...)
			all = append(all, c)
		}
		return all
	}
	codings := d.Learnt.Encoding
	for _, learnt := range d.Learnt.Columns {
		name := fmt.Sprintf("%.100q", learnt.Name)
		if learnt.LeftOut != "" {
			all = append(all, columnSeen{name: name, kind: kindOf(learnt), source: share(learnt.Missing[0], d.Source.Rows), target: "", does: "left out: " + learnt.LeftOut, odd: []string{}})
			continue
		}
		coding := codings[0]
		codings = codings[1:]
		if len(coding.Levels) == 0 {
			all = append(all, d.numberSeen(name, at, learnt, coding))
			at++
		} else {
			does := "one column per level"
			if learnt.Levels > len(coding.Levels) {
				does = fmt.Sprintf("one column for each of the %d most frequent levels", len(coding.Levels))
			}
			if coding.Missing {
				does += ", and one for missing cells"
			}
			c := columnSeen{name: name, kind: kindOf(learnt), source: share(learnt.Missing[0], d.Source.Rows), target: share(learnt.Missing[1], d.Target.Rows), does: does}
			c.odd = append(c.odd, learnt.Strays...)
			var without []string
			for i, level := range coding.Levels {
				if _, is := slices.BinarySearch(d.Columns.Target.Constant, at+i); is && d.Columns.Target.Mean[at+i] == 0 {
					without = append(without, fmt.Sprintf("%.100q", level))
				}
			}
			if without != nil {
				c.odd = append(c.odd, "no row of the target has "+printable.FirstTen(without))
			}
			all = append(all, c)
			at += len(coding.Levels)
		}
		last := &all[len(all)-1]
		last.odd = append(last.odd, d.Columns.beyond[len(d.Learnt.Encoding)-len(codings)-1]...)
		if coding.Missing {
			at++
		}
	}
	return all
}

// kindOf says what the cells of a column are.
func kindOf(c table.LearntColumn) string {
	switch {
	case c.Levels > 0:
		return fmt.Sprintf("words, %d levels", c.Levels)
	case c.Dates:
		return "date"
	}
	return numberKind
}

// share says which part of so many rows is missing; "" for none.
func share(missing, rows int) string {
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f%% missing", 100*float64(missing)/float64(rows))
}

// numberSeen is what is seen of a column of numbers, whose place is that of its value in a row.
func (d Data) numberSeen(name string, at int, learnt table.LearntColumn, coding table.Coding) columnSeen {
	c := columnSeen{name: name, kind: kindOf(learnt), does: asItIs}
	if learnt.Dates {
		c.does = "the days since 1970"
	}
	if coding.Missing {
		c.does = fmt.Sprintf("missing cells become the median, %s; another column marks them", d.Columns.text(at, coding.Median, d.Columns.Source.Deviation[at]))
	}
	c.odd = append(c.odd, learnt.Strays...)
	constant := 0
	var counting []string
	for i, of := range []struct {
		Oddities
		rows int
		to   *string
		name string
	}{{d.Columns.Source, d.Source.Rows, &c.source, sourceName}, {d.Columns.Target, d.Target.Rows, &c.target, targetName}} {
		missing := learnt.Missing[i]
		if said, is := d.Columns.coarse[i][at]; is {
			c.odd = append(c.odd, said)
		}
		mean := d.Columns.text(at, of.Mean[at], of.Deviation[at])
		seen := fmt.Sprintf("%s ± %.4g", mean, of.Deviation[at])
		if learnt.Dates {
			seen += " days"
		}
		_, same := slices.BinarySearch(of.Constant, at)
		if same {
			constant++
		}
		switch {
		case missing == of.rows:
			seen = ""
		case same || of.Deviation[at] == 0:
			seen = "always " + mean
		}
		*of.to = strings.Join(slices.DeleteFunc([]string{seen, share(missing, of.rows)}, func(s string) bool { return s == "" }), ", ")
		c.odd = append(c.odd, d.Columns.seen(of.Oddities, at, of.name)...)
		if _, is := slices.BinarySearch(of.Counting, at); is {
			counting = append(counting, of.name)
		}
	}
	if counting != nil {
		c.odd = append(c.odd, fmt.Sprintf("counts the rows of the %s: name it with --id-column or --ignore", strings.Join(counting, " and the ")))
	}
	switch {
	case constant == 2:
		c.kind = "constant"
	case slices.Contains(d.Columns.LeftOut, at):
		c.odd = append(c.odd, "has only one value in one domain: left out if columns are standardised")
	}
	if slices.Contains(d.Columns.Clipped, at) {
		c.odd = append(c.odd, fmt.Sprintf("has a few extreme values: may be clipped at %d standard deviations", clipAt))
	}
	return c
}

// seen says what is odd about a column of the domain of that name.
func (c Columns) seen(o Oddities, at int, name string) (odd []string) {
	for _, mark := range o.Marks {
		if mark.Column == at {
			odd = append(odd, fmt.Sprintf("%v in %s of the %s may be an error, or stand for missing values", c.value(at, mark.Value), printable.Count(mark.Rows, "row"), name))
		}
	}
	return odd
}

// writeImages decodes all images and says what there is of them.
func (d Data) writeImages(ctx context.Context, w io.Writer) error {
	var broken []*images.FileError
	for _, of := range []struct {
		name string
		set  *images.Set
	}{{sourceName, d.images.Source}, {targetName, d.images.Target}} {
		sizes, wrong, notes, err := of.set.Inspect(ctx)
		if err != nil {
			return err
		}
		broken = append(broken, wrong...)
		for _, note := range notes {
			fmt.Fprintf(w, "warning: %s\n", note)
		}
		sizes = slices.DeleteFunc(sizes, func(p image.Point) bool { return p.X == 0 })
		if len(sizes) == 0 {
			continue
		}
		area := func(a, b image.Point) int { return cmp.Compare(a.X*a.Y, b.X*b.Y) }
		least, most := slices.MinFunc(sizes, area), slices.MaxFunc(sizes, area)
		fmt.Fprintf(w, "%s: %d×%d to %d×%d pixels\n", of.name, least.X, least.Y, most.X, most.Y)
	}
	return images.Unreadable(broken)
}

// writePlan says what adapt trains, and warns.
func (d Data) writePlan(w io.Writer, network string) error {
	text, err := d.Experiment(Options{Network: network})
	if err != nil {
		return err
	}
	file, err := d.parse(names.Experiment, text, nil)
	if err != nil {
		return err
	}
	runs, err := runsOf(file)
	if err != nil {
		return err
	}
	if err := cmp.Or(checkData(runs), d.checkRuns(file, runs)); err != nil {
		return err
	}
	fmt.Fprintf(w, "adapt trains %s; methods: %s\n", stagesOf(runs, file.Config.Selection).lengths(), strings.Join(file.Config.Methods, ", "))
	if d.images != nil {
		fmt.Fprintln(w, trainedViews(file.Config.Dataset))
	}
	for _, warning := range d.Warnings(&file.Config) {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	return nil
}
