package adapt

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
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

// partition is a column that may say which rows belong together.
type partition struct {
	column
	of     []int // level of each row, -1 for none
	levels int
	order  bool // levels are numbers, in their order
	ids    bool
}

// What makes rows belong together; research/trust.md has how often that is said of rows that do not.
const (
	fewestLevels   = 10   // of a column of groups that is not one of ids
	fewKnown       = 0.25 // of the target's words or rows have a value that the source has: most are of other groups
	mostKnown      = 0.1  // of the target's rows have a value that the source has: as good as none
	mostLooked     = 5000 // rows
	mostAsked      = 500  // rows whose nearest one is looked for
	clearlyChance  = 1e-6
	clearlyFewer   = 3    // standard errors
	worthFalling   = 0.05 // of accuracy
	blatantFalling = 0.1
	worthCopies    = 0.03
	blatantCopies  = 0.2
	mostOutside    = 0.1 // of the target's rows
	surelyFewer    = 5   // standard errors
	mostInSet      = 100 // rows of a set, as the visits of a patient are
	wholeDesign    = 0.9 // of the combinations of columns' values: rows are all that there are, and no sets
)

// look fills in what is seen of a source whose rows have no groups, and of the target that goes with it.
func (b *belonging) look(source, target rowSet, idColumn string, learnt table.Learnt, isTable, independent bool) {
	rows := evenly.Rows(source.Len(), mostLooked)
	s := looked{labels: datasets.LabelsOf(datasets.Subset(source, rows)), values: valuesOf(source, rows), width: datasets.Size(source.Shape())}
	t := looked{values: valuesOf(target, evenly.Rows(target.Len(), mostLooked)), width: s.width}
	b.outside = s.outside(t, source.Columns())
	if independent || datasets.GroupsOf(source) != nil { // somebody has said which rows belong together
		return
	}
	columns, leastKnown := tableColumns(source, learnt, isTable), fewKnown
	for _, p := range s.partitions(source, rows, idColumn, columns) {
		rowsOf, inLevels := map[int]int{}, 0
		for _, level := range p.of {
			if level >= 0 {
				rowsOf[level]++
				inLevels++
			}
		}
		if mostAlone(rowsOf, inLevels) {
			continue
		}
		use := fmt.Sprintf("If it says which rows belong together, such as those of one patient or device, name it with --group-column %s: otherwise accuracies are too high, and intervals too narrow", p.name)
		many := fmt.Sprintf("%d different values in %s of the source", p.levels, printable.Count(inLevels, "row"))
		falls, before, after, same := s.falls(p)
		known := s.known(p, t)
		share := known // of all words
		if p.words > 0 {
			share = p.learnt.Known
		}
		surely := func(because, evidence string) {
			if share < leastKnown && (p.learnt.Missing == nil || 2*p.learnt.Missing[0] <= source.Len()) { // words that the target has are a feature
				leastKnown = share
				b.sure = together{group: p.name, because: because + ", and most of the target has other values", evidence: evidence}
			}
		}
		if size, by := setsOf(rowsOf); by >= surelyFewer && !p.order { // of a number as many rows may have been measured
			surely(inSets(size, by))
		}
		switch {
		case p.ids:
			leastKnown = 0
			b.sure = together{group: p.name, id: p.name, because: "ids repeat", evidence: many}
			b.warnings = append(b.warnings, fmt.Sprintf("The ids of the column %q repeat: %s. %s.", p.name, many, use))
			b.say("ids of the source repeat, and rows with the same id are not independent")
		case falls > clearlyFewer && before-after >= worthFalling && same:
			found := fmt.Sprintf("by the most similar row, %.0f%% of the classes are right, and %.0f%% if that row may not have the same value", 100*before, 100*after)
			b.warnings = append(b.warnings, fmt.Sprintf("Rows with the same value of the column %q are alike: %s (%s). %s.", p.name, found, many, use))
			if before-after < blatantFalling {
				continue
			}
			if falls >= surelyFewer {
				surely("they are alike", found)
			}
			if p.order || known < mostKnown { // words that both domains have are a feature
				b.say(fmt.Sprintf("rows with the same %q are alike, and so not independent", p.name))
			}
		case s.pure(p):
			b.warnings = append(b.warnings, fmt.Sprintf("All rows with the same value of the column %q have the same class (%s). %s.", p.name, many, use))
			if known < mostKnown {
				surely("all of them have the same class", many)
				b.say(fmt.Sprintf("all source rows with the same %q have the same class, and the target has other values of it", p.name))
			}
		}
	}
	b.sets(source, s, columns)
}

func (b *belonging) say(blatant string) {
	if b.blatant == "" {
		b.blatant = blatant
	}
}

// looked are some rows of a domain.
type looked struct {
	labels datasets.Labels
	values []float32 // row after row
	width  int
}

func valuesOf(set datasets.Set, rows []int) []float32 {
	values := make([]float32, len(rows)*datasets.Size(set.Shape()))
	datasets.CopyRows(values, set, rows)
	return values
}

// partitions lists the columns that may say which rows belong together: one of ids that repeat, and of a table
// columns of whole numbers and of words.
func (s looked) partitions(source rowSet, rows []int, idColumn string, columns []column) (all []partition) {
	if repeated, _ := repeatedIDs(source, idColumn); repeated > 0 {
		p, places := partition{column: column{name: idColumn}, ids: true}, map[string]int{}
		for _, row := range rows {
			p.of = append(p.of, numberOf(places, source.ID(row)))
		}
		p.levels = len(places)
		all = append(all, p)
	}
	for _, c := range columns {
		if p, is := s.partition(c); is {
			all = append(all, p)
		}
	}
	return all
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

// different is the number of different values of a column.
func (s looked) different(c column) int {
	hashes := map[uint64]bool{}
	for row := range slices.Chunk(s.values, s.width) {
		hashes[c.hash(row)] = true
	}
	return len(hashes)
}

// numberOf is the number of a name, a new one for one that has none.
func numberOf[K comparable](of map[K]int, name K) int {
	number, known := of[name]
	if !known {
		number = len(of)
		of[name] = number
	}
	return number
}

// partition is that by a column.
func (s looked) partition(c column) (p partition, is bool) {
	from, words := c.from, c.words
	p = partition{column: c, order: words == 0}
	values, n := map[float32]int{}, len(s.values)/s.width
	for i := range n {
		row, level := s.values[i*s.width:(i+1)*s.width], -1
		if v := row[from]; words == 0 {
			if float64(v) != math.Trunc(float64(v)) {
				return p, false
			}
			level = numberOf(values, v)
		} else {
			level = slices.Index(row[from:from+words], 1)
		}
		p.of = append(p.of, level)
		if len(values) > n/3 {
			return p, false
		}
	}
	if p.levels = words; words == 0 {
		p.levels = len(values)
	}
	if p.order { // levels in the order of numbers
		sorted, rank := make([]float32, 0, len(values)), map[int]int{}
		for v := range values {
			sorted = append(sorted, v)
		}
		slices.Sort(sorted)
		for place, v := range sorted {
			rank[values[v]] = place
		}
		for i := range p.of {
			p.of[i] = rank[p.of[i]]
		}
	}
	return p, p.levels >= fewestLevels
}

// outside names the columns in which more than so many of the target's rows lie where none of the source's
// do, a clause; "" for none.
func (s looked) outside(target looked, names []string) string {
	var columns []string
	for j := range s.width {
		column := func(of looked) *mat.Dense {
			n := len(of.values) / of.width
			values := mat.NewDense(n, 1, nil)
			for i := range n {
				values.Set(i, 0, float64(of.values[i*of.width+j]))
			}
			return values
		}
		rows := floor.Outside(column(s), column(target))
		outside := 0
		for _, is := range rows {
			if is {
				outside++
			}
		}
		if float64(outside) > mostOutside*float64(len(rows)) {
			name := strconv.Itoa(j)
			if names != nil {
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

// pure reports whether each level has rows of one class alone, by more than chance, and the classes of
// levels do not follow from the order of numbers, as those of a measurement would.
func (s looked) pure(p partition) bool {
	k := slices.Max(s.labels.Classes()) + 1
	shares, class, rows := s.labels.Shares(k), slices.Repeat([]int{-1}, p.levels), make([]int, p.levels)
	for i, level := range p.of {
		if y, _ := s.labels.At(i); level >= 0 {
			if rows[level]++; class[level] >= 0 && class[level] != y {
				return false
			}
			class[level] = y
		}
	}
	chance, switches := 0.0, 0
	for level, n := range rows {
		power := make([]float64, k)
		for c, share := range shares {
			power[c] = math.Pow(share, float64(n))
		}
		chance += math.Log(floats.Sum(power))
		if level > 0 && class[level] != class[level-1] {
			switches++
		}
	}
	return chance < math.Log(clearlyChance) && (!p.order || switches > p.levels/5)
}

// known is the share of the target's rows with a value of the column whose value the source has; 1 if none has a value.
func (s looked) known(p partition, target looked) float64 {
	values := map[float32]bool{}
	for i := p.from; i < len(s.values) && p.order; i += s.width {
		values[s.values[i]] = true
	}
	has, n := 0.0, 0.0
	for row := range slices.Chunk(target.values, target.width) {
		if last := p.from + max(1, p.words); last < p.to && row[last] == 1 { // missing
			continue
		}
		n++
		if p.order && values[row[p.from]] || !p.order && slices.Contains(row[p.from:p.from+p.words], 1) {
			has++
		}
	}
	if n == 0 {
		return 1
	}
	return has / n
}

// falls says by how many standard errors the class of the most similar row, by the other columns, is right less often if
// that row may not be of the same level, and whether similar rows are of the same
// level more often than others, as a group's are. Those of a measurement are of the next levels too.
func (s looked) falls(p partition) (falls, before, after float64, same bool) {
	n := len(s.values) / s.width
	deviation := make([]float64, s.width)
	for j := range deviation {
		column := make([]float64, n)
		for i := range column {
			column[i] = float64(s.values[i*s.width+j])
		}
		floats.AddConst(-floats.Sum(column)/float64(n), column)
		deviation[j] = floats.Norm(column, 2)
	}
	rows := make([]int, p.levels)
	for _, level := range p.of {
		if level >= 0 {
			rows[level]++
		}
	}
	scaled, kept := make([]float32, 0, len(s.values)), 0
	for i := range n {
		for j, v := range s.values[i*s.width : (i+1)*s.width] {
			if (j < p.from || j >= p.to) && deviation[j] > 0 {
				scaled = append(scaled, v/float32(deviation[j]))
			}
		}
		if i == 0 {
			kept = len(scaled)
		}
	}
	if kept == 0 {
		return 0, 0, 0, false
	}
	asked, gained, lost, alike, expected := 0.0, 0.0, 0.0, 0.0, 0.0
	next, expectedNext := 0.0, 0.0 // second ones of a level beside the row's own, in the order of numbers
	for _, i := range evenly.Rows(n, mostAsked) {
		if p.of[i] < 0 {
			continue
		}
		nearest, least := [2]int{-1, -1}, [2]float32{math.MaxFloat32, math.MaxFloat32} // of all, of other levels
		for j := range n {
			if j == i {
				continue
			}
			d := distance(scaled[i*kept:(i+1)*kept], scaled[j*kept:(j+1)*kept], least[1])
			for of, counts := range []bool{true, p.of[j] != p.of[i]} {
				if counts && d < least[of] {
					nearest[of], least[of] = j, d
				}
			}
		}
		if nearest[0] < 0 || nearest[1] < 0 {
			continue
		}
		y, _ := s.labels.At(i)
		first, _ := s.labels.At(nearest[0])
		second, _ := s.labels.At(nearest[1])
		asked++
		expected += float64(rows[p.of[i]]-1) / float64(n-1)
		if p.of[nearest[0]] == p.of[i] {
			alike++
		}
		if level := p.of[i]; p.order {
			for _, beside := range []int{level - 1, level + 1} {
				if beside >= 0 && beside < p.levels {
					expectedNext += float64(rows[beside]) / float64(n-rows[level])
				}
				if p.of[nearest[1]] == beside {
					next++
				}
			}
		}
		switch {
		case first == y && second == y:
			before, after = before+1, after+1
		case first == y:
			before, lost = before+1, lost+1
		case second == y:
			after, gained = after+1, gained+1
		}
	}
	if asked == 0 {
		return 0, 0, 0, false
	}
	before, after = before/asked, after/asked
	measured := next-expectedNext > clearlyFewer*math.Sqrt(expectedNext)
	return (lost - gained) / math.Sqrt(max(1, lost+gained)), before, after, alike > 3*expected && !measured
}

// distance is the square of that between two rows, or what it is at least if it is more than enough.
func distance(a, b []float32, enough float32) (sum float32) {
	for j, v := range a {
		if sum += (v - b[j]) * (v - b[j]); sum > enough {
			return sum
		}
	}
	return sum
}
