package adapt

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/datasets/table"
	"iwda/experiments/config"
	"iwda/internal/convert"
	"iwda/internal/printable"
	"iwda/learners"
)

// Columns is what was seen of columns of features that harms where these are standardised.
type Columns struct {
	// LeftOut are those that never change in one domain and do in the other; see
	// [normalise.LeaveOut].
	LeftOut []int
	// Clipped are those most of whose variance lies in a few values far from all others; see
	// [normalise.Ranges].
	Clipped        []int
	Source, Target Oddities

	names   []string          // nil where they have none
	origins []float64         // of their values, which are less these; nil for none
	dates   []int             // places of those that are days since 1970
	coarse  [2]map[int]string // of source and target; see [table.Rows.Coarse]
	beyond  map[int][]string  // how columns of the source differ beyond what class shares explain
	differ  []string          // the same, of each such column with its name
}

// Oddities are what was seen of one domain.
type Oddities struct {
	normalise.Statistics                  // of the rows as they are; of numbers some of which are missing, of the others
	Marks                []normalise.Mark // that may stand for missing values, or be errors
	Counting             []int            // columns that count the rows, of one source of several too
}

// clipAt is the value of network.clip where columns have to be clipped;
// research/comparisons/normalisation.md has the comparison.
const clipAt = 2

// lookAtColumns looks at those of sources, which are one in source, and of a target.
func lookAtColumns(sources []datasets.Set, source, target datasets.Set) (c Columns) {
	c.coarse = [2]map[int]string{{}, {}}
	if named, is := source.(datasets.Named); is {
		c.names = named.Columns()
	}
	ofSource, ofTarget := normalise.StatisticsOf(source), normalise.StatisticsOf(target)
	c.Source, c.Target = oddities(source, ofSource, sources...), oddities(target, ofTarget, target)
	ofSource.Deviation, ofTarget.Deviation = slices.Clone(ofSource.Deviation), slices.Clone(ofTarget.Deviation)
	c.LeftOut = normalise.LeaveOut(&ofSource, &ofTarget)
	_, _, c.Clipped = normalise.Ranges(source, target, clipAt)
	return c
}

// leaveMissing has mean and deviation of numbers be those of the values that are there, in one
// pass over the rows (Welford 1962).
func (o *Oddities) leaveMissing(set datasets.Set, codings []table.Coding) {
	columns := map[int]*moments{} // by their places; the next value says what is missing
	at := 0
	for _, c := range codings {
		if c.Missing && len(c.Levels) == 0 {
			columns[at] = new(moments)
		}
		if at += max(1, len(c.Levels)); c.Missing {
			at++
		}
	}
	if len(columns) == 0 {
		return
	}
	row := make([]float32, datasets.Size(set.Shape()))
	for i := range set.Len() {
		set.CopyRow(row, i)
		for at, m := range columns {
			if row[at+1] == 0 {
				m.add(float64(row[at]))
			}
		}
	}
	for at, m := range columns {
		if m.n == 0 {
			m.mean = math.NaN() // as its deviation is
		}
		o.Mean[at], o.Deviation[at] = float32(m.mean), float32(m.deviation())
	}
}

// oddities are those of a set, each of whose parts may count its rows.
func oddities(set datasets.Set, s normalise.Statistics, parts ...datasets.Set) Oddities {
	o := Oddities{s, normalise.Marks(set), nil}
	for _, part := range parts {
		o.Counting = append(o.Counting, normalise.Counting(part)...)
	}
	slices.Sort(o.Counting)
	o.Counting = slices.Compact(o.Counting)
	return o
}

// odd tells whether something else is said of a column's values, which makes their moments meaningless.
func (c Columns) odd(at int) bool {
	for _, o := range []Oddities{c.Source, c.Target} {
		if slices.Contains(o.Counting, at) || slices.ContainsFunc(o.Marks, func(m normalise.Mark) bool { return m.Column == at }) {
			return true
		}
	}
	return slices.Contains(c.LeftOut, at) || slices.Contains(c.Clipped, at)
}

// origin is what was taken off the values of a column.
func (c Columns) origin(j int) float64 {
	if c.origins == nil {
		return 0
	}
	return c.origins[j]
}

// value is one of a column as it is in the file.
func (c Columns) value(j int, of float32) any {
	if origin := c.origin(j); origin != 0 {
		return origin + float64(of)
	}
	return of
}

// text is a value of a column as it is in the file, with four digits below where values that lie one deviation apart
// begin to differ; all that are known, if the deviation is 0.
func (c Columns) text(j int, of, deviation float32) string {
	if slices.Contains(c.dates, j) {
		return table.Day(c.origin(j) + float64(of))
	}
	digits, whole := 7, float64(of)
	if origin := c.origin(j); origin != 0 {
		digits, whole = 15, origin+whole
	}
	if deviation > 0 {
		digits = min(digits, 4+max(0, int(math.Log10(math.Abs(whole)/float64(deviation)))))
	}
	return strconv.FormatFloat(whole, 'g', digits, 64)
}

// agreeing is a format in which {one|several} stands where the number of what it is about matters.
func agreeing(n int, format string) string {
	return choice.ReplaceAllStringFunc(format, func(both string) string {
		one, several, _ := strings.Cut(both[1:len(both)-1], "|")
		if n == 1 {
			return one
		}
		return several
	})
}

var choice = regexp.MustCompile(`\{[\w ]*\|[\w ]*\}`)

// name returns the name of a column, or its number where it has none.
func (c Columns) name(j int) string {
	if c.names != nil {
		return strconv.Quote(c.names[j])
	}
	return strconv.Itoa(j)
}

// Warnings are sentences about what should be known of the data that the experiment is about.
func (d Data) Warnings(experiment *config.Config) (warnings []string) {
	warnings = slices.Clone(d.Learnt.LeftOut)
	for i, of := range d.sources() {
		if s, t := of.Files, d.Target.Files; s.Path == t.Path && s.Path != "" && s.DomainColumn == "" {
			warnings = append(warnings, fmt.Sprintf("Source and target are the same: %s. All results are then about rows that were trained on.", s.Path))
		}
		if slices.ContainsFunc(d.sources()[:i], func(other Domain) bool { return other.Path == of.Path && other.DomainValue == of.DomainValue }) {
			warnings = append(warnings, fmt.Sprintf("Two sources are the same: %s. Its rows count twice, so that accuracies are too high, and intervals too narrow.", of.Path))
		}
	}
	const sameName = "They differ only in case, spaces, -, _ or characters that are not seen. If they mean the same, give it one name."
	if alike := lookAlike(d.Classes); alike != "" {
		warnings = append(warnings, fmt.Sprintf("Some class names look alike: %s. %s", alike, sameName))
	}
	if err := learners.CheckClasses(len(d.Classes)); err != nil && d.table() {
		warnings = append(warnings, fmt.Sprintf("Only the linear classifier predicts: there are %v.", err))
	}
	if d.belong.outside != "" {
		warnings = append(warnings, fmt.Sprintf("There is no lower bound of the accuracy: %s.", d.belong.outside))
	}
	warnings = append(warnings, d.belong.warnings...)
	warnings = append(warnings, d.beside...)
	if d.repeated != "" {
		warnings = append(warnings, d.repeated)
	}
	for _, column := range d.Learnt.Columns {
		for _, stray := range column.Strays {
			warnings = append(warnings, fmt.Sprintf("Column %.100q: %s.", column.Name, stray))
		}
	}
	for _, c := range d.Learnt.Encoding {
		if alike := lookAlike(c.Levels); alike != "" {
			warnings = append(warnings, fmt.Sprintf("Column %.100q: some words look alike: %s. %s", c.Column, alike, sameName))
		}
	}
	for _, coarse := range d.Columns.coarse {
		for _, column := range slices.Sorted(maps.Keys(coarse)) {
			warnings = append(warnings, fmt.Sprintf("Column %s: %s.", d.Columns.name(column), coarse[column]))
		}
	}
	c := d.Columns
	// say begins a sentence, about some of the columns, if there are any: {of one|of several}.
	say := func(columns int, format string, values ...any) {
		if columns > 0 {
			warnings = append(warnings, fmt.Sprintf("%d of %d columns ", columns, d.columns())+fmt.Sprintf(agreeing(columns, format), values...))
		}
	}
	say(len(c.differ), "{differs|differ} beyond what other class shares explain: %s. Check that {it is|they are} measured alike in both, in the same unit.", printable.FirstTen(c.differ))
	if !normalise.Standardises(experiment.Network.Normalise) {
		return warnings
	}
	flags := d.Learnt.Encoding.Flags() // a word may well be that of one row, or of one domain
	dead := slices.DeleteFunc(slices.Clone(c.LeftOut), func(column int) bool { return slices.Contains(flags, column) })
	say(len(dead), "{has|have} only one value in one domain, but not in the other: %s. Check that {it is|they are} measured alike in both.", c.list(dead))
	var clipped []int
	if experiment.Network.Clip > 0 {
		clipped = c.Clipped
	}
	say(len(clipped), "{is|are} clipped, because a few extreme values make up most of {its|their} variance in one domain: %s. "+
		"If the values have a long tail, use their logarithms.", c.list(clipped))
	instead := "put their column's mean there"
	if c.names != nil { // cells, which may be empty
		instead = "leave their cells empty"
	}
	for _, domain := range []struct {
		name string
		Oddities
	}{{sourceName, c.Source}, {targetName, c.Target}} {
		say(len(domain.Counting), "of the %s {counts|count} the rows: %s. The order of rows means nothing in other data: "+
			"name such a column with --id-column or --ignore.", domain.name, c.list(domain.Counting))
		if len(domain.Marks) > 0 {
			first := domain.Marks[0]
			say(len(domain.Marks), "of the %s {has|have} a value far from all others: {|for example }%v in %s of column %s. "+
				"It can spoil the training: correct errors, and if it stands for missing values, %s.", domain.name, c.value(first.Column, first.Value), printable.Count(first.Rows, "row"), c.name(first.Column), instead)
		}
	}
	return warnings
}

var signOf = regexp.MustCompile(`^\p{Pd}\d`)

// lookAlike lists words that look alike: that differ in case, in spaces and other characters of no
// width, in - and _, and in how letters are composed alone; "" if there are none. The sign of a number is no such -.
func lookAlike(words []string) string {
	bare := func(word string) string {
		return signOf.FindString(word) + strings.Map(func(r rune) rune {
			if r == '_' || unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Pd, unicode.Variation_Selector) {
				return -1
			}
			return unicode.ToLower(r)
		}, norm.NFKC.String(word))
	}
	quoted := func(word string) string { // in which differences can be seen
		if norm.NFC.IsNormalString(word) {
			return strconv.Quote(word)
		}
		return strconv.QuoteToASCII(word)
	}
	of := map[string][]string{}
	for _, word := range words {
		of[bare(word)] = append(of[bare(word)], quoted(word))
	}
	var all []string
	for _, word := range words {
		if names := of[bare(word)]; len(names) > 1 && bare(word) != "" && names[0] == quoted(word) {
			all = append(all, strings.Join(names, " and "))
		}
	}
	return printable.FirstTen(all)
}

// list names columns, the first ten of them.
func (c Columns) list(columns []int) string {
	return printable.FirstTen(convert.Each(columns, c.name))
}
