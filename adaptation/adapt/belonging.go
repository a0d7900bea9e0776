package adapt

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"iwda/datasets"
	"iwda/datasets/table"
	"iwda/inference/floor"
	"iwda/internal/evenly"
	"iwda/internal/printable"
)

// belonging is what was seen of rows of a source that seem to belong together, though no column of groups
// was named: no interval holds if they do.
type belonging struct {
	warnings []string
	blatant  string // why no interval is given, a clause; "" if there is no reason
	outside  string // why no floor is, as many rows of the target lie where none of the source do; likewise
	sure     together
}

// together is what surely says which rows belong together: a column of groups, of ids too perhaps, or columns of
// features that have the same values in all rows of a group.
type together struct {
	group, id         string
	by                []string
	because, evidence string // clauses; "" if nothing is sure
}

// roles are those of a file, of which so much more is known.
func (t together) roles(r *table.Roles, columns []string) {
	if slices.Contains(columns, t.group) {
		if r.Group = t.group; t.id != "" {
			r.ID = t.id
		}
	}
	r.GroupBy = t.by
}

// column is one of a table, with the places of its values in a row: one each of so many words, or one number, and
// one that says that it is missing.
type column struct {
	name     string
	from, to int
	words    int
	learnt   table.LearntColumn // the zero value if all cells are numbers
}

// What makes rows belong together; research/trust.md has how often that is said of rows that do not.
const (
	fewestLevels  = 10   // groups of the source
	fewKnown      = 0.25 // of the target's values are the source's, of as many as there would be of independent rows
	fewestMates   = 0.75 // of the source's rows have the values of another
	mostBeside    = 0.2  // of the way from chance to certainty that values lie beside those of their own domain
	alike         = 4    // mean squares between groups, of those within
	someOrder     = 0.2  // at least, of that excess, is between groups with successive numbers in each column
	order         = 0.5  // in all
	worthAColumn  = 0.01 // of the target's rows: by so many more have a column more values that the source has not
	mostLooked    = 5000 // rows, or values
	mostAsked     = 500  // values beside which others are looked for
	worthCopies   = 0.03
	blatantCopies = 0.2
	mostOutside   = 0.1 // of the target's rows
)

// look fills in what is seen of a source whose rows have no groups, and of the target that goes with it.
func (b *belonging) look(source, target rowSet, idColumn string, learnt table.Learnt, isTable, independent bool) {
	b.outside = outside(source, target)
	if independent || datasets.GroupsOf(source) != nil { // somebody has said which rows belong together
		return
	}
	if repeated, _ := repeatedIDs(source, idColumn); 4*repeated >= source.Len() {
		b.sure = together{group: idColumn, id: idColumn, because: "ids repeat", evidence: fmt.Sprintf("%d of %d rows of the source have the id of a row before them", repeated, source.Len())}
	} else {
		b.sure = units{source, target, tableColumns(source, learnt, isTable)}.find()
	}
	b.copied(source)
	if b.sure.because == "" {
		return
	}
	names, use := quoted(b.sure.by), "" // if they cannot be grouped
	if b.sure.group != "" {
		names, use = quoted([]string{b.sure.group}), fmt.Sprintf("If so, name the column with %s. ", printable.Command("--group-column", b.sure.group))
	}
	b.warnings = append(b.warnings, fmt.Sprintf("Rows with the same %s seem to belong together, as those of one patient or device do, because %s: %s. Yet they are not grouped, as some class has rows in fewer than %d groups or the experiment file names none: accuracies may be too high. %sIf they are independent, say so with --group-column ''.", names, b.sure.because, b.sure.evidence, fewestRows, use))
	b.blatant = fmt.Sprintf("rows with the same %s seem to belong together", names)
}

// tableColumns are those of a table; none of an array, as no column of one has a meaning of its own.
func tableColumns(source rowSet, learnt table.Learnt, isTable bool) (columns []column) {
	if !isTable {
		return nil
	}
	for i, of := range learnt.Encoding.Places() {
		c := learnt.Encoding[i]
		at := slices.IndexFunc(learnt.Columns, func(l table.LearntColumn) bool { return l.Name == c.Column })
		columns = append(columns, column{c.Column, of[0], of[len(of)-1] + 1, len(c.Levels), learnt.Columns[at]})
	}
	if learnt.Encoding == nil {
		for j, name := range source.Columns() {
			columns = append(columns, column{name: name, from: j, to: j + 1})
		}
	}
	return columns
}

// outside names the columns in which more than so many of the target's rows lie where none of the source's
// do, a clause; "" for none.
func outside(source, target rowSet) string {
	all := [2][]float32{}
	for i, set := range []rowSet{source, target} {
		rows := evenly.Rows(set.Len(), mostLooked)
		all[i] = make([]float32, len(rows)*datasets.Size(set.Shape()))
		datasets.CopyRows(all[i], set, rows)
	}
	var columns []string
	width := datasets.Size(source.Shape())
	for j := range width {
		var column [2]*mat.Dense
		for i, values := range all {
			column[i] = mat.NewDense(len(values)/width, 1, nil)
			for at := range len(values) / width {
				column[i].Set(at, 0, float64(values[at*width+j]))
			}
		}
		rows, outside := floor.Outside(column[0], column[1]), 0
		for _, is := range rows {
			if is {
				outside++
			}
		}
		if float64(outside) > mostOutside*float64(len(rows)) {
			name := strconv.Itoa(j)
			if names := source.Columns(); names != nil {
				name = strconv.Quote(names[j])
			}
			columns = append(columns, fmt.Sprintf("%s (%.0f%% of the rows)", name, 100*float64(outside)/float64(len(rows))))
		}
	}
	if columns == nil {
		return ""
	}
	return "rows of the target lie where no row of the source does, by the column " + printable.FirstTen(columns)
}
