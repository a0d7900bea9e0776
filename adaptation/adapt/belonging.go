package adapt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
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
}

// partition is a column that may say which rows belong together.
type partition struct {
	name     string
	of       []int // level of each row, -1 for none
	levels   int
	from, to int  // places of its values in a row
	order    bool // levels are numbers, in their order
	ids      bool
}

// What makes rows belong together; research/trust.md has how often that is said of rows that do not.
const (
	fewestLevels   = 10   // of a column of groups that is not one of ids
	mostLooked     = 5000 // rows
	mostAsked      = 500  // rows whose nearest one is looked for
	clearlyChance  = 1e-6
	clearlyFewer   = 3    // standard errors
	worthFalling   = 0.05 // of accuracy
	blatantFalling = 0.1
	worthCopies    = 0.03
	blatantCopies  = 0.2
	mostOutside    = 0.1 // of the target's rows
)

// look fills in what is seen of a source whose rows have no groups, and of the target that goes with it.
func (b *belonging) look(source, target rowSet, idColumn string, learnt table.Learnt, isTable bool) {
	rows := evenly.Rows(source.Len(), mostLooked)
	s := looked{labels: datasets.LabelsOf(datasets.Subset(source, rows)), values: valuesOf(source, rows), width: datasets.Size(source.Shape())}
	t := looked{values: valuesOf(target, evenly.Rows(target.Len(), mostLooked)), width: s.width}
	if b.outside = s.outside(t, source.Columns()); b.outside != "" {
		b.warnings = append(b.warnings, fmt.Sprintf("There is no lower bound of the accuracy: %s.", b.outside))
	}
	if datasets.GroupsOf(source) != nil { // somebody has said which rows belong together
		return
	}
	b.copies(source)
	for _, p := range s.partitions(source, rows, idColumn, learnt, isTable) {
		rowsOf := make([]int, p.levels)
		inLevels, alone := 0, 0
		for _, level := range p.of {
			if level >= 0 {
				rowsOf[level]++
				inLevels++
			}
		}
		for _, n := range rowsOf {
			if n == 1 {
				alone++
			}
		}
		if inLevels-alone < inLevels/2 { // most rows stand alone
			continue
		}
		use := fmt.Sprintf("If it says which rows belong together, such as those of one patient or device, name it with --group-column %s: otherwise accuracies are too high, and intervals too narrow", p.name)
		many := fmt.Sprintf("%d different values in %s of the source", p.levels, printable.Count(inLevels, "row"))
		falls, before, after, same := s.falls(p)
		switch {
		case p.ids:
			b.warnings = append(b.warnings, fmt.Sprintf("The ids of the column %q repeat: %s. %s.", p.name, many, use))
			b.say("ids of the source repeat, and rows with the same id are not independent")
		case falls && same:
			b.warnings = append(b.warnings, fmt.Sprintf("Rows with the same value of the column %q are alike: by the most similar row, %.0f%% of the classes are right, and %.0f%% if that row may not have the same value (%s). %s.", p.name, 100*before, 100*after, many, use))
			if before-after >= blatantFalling && (p.order || s.missing(p, t)) { // words that both domains have are a feature
				b.say(fmt.Sprintf("rows with the same %q are alike, and so not independent", p.name))
			}
		case s.pure(p):
			b.warnings = append(b.warnings, fmt.Sprintf("All rows with the same value of the column %q have the same class (%s). %s.", p.name, many, use))
			if s.missing(p, t) {
				b.say(fmt.Sprintf("all source rows with the same %q have the same class, and the target has other values of it", p.name))
			}
		}
	}
}

func (b *belonging) say(blatant string) {
	if b.blatant == "" {
		b.blatant = blatant
	}
}

// copies looks for rows that have the same values as one before them, though a column has many values.
func (b *belonging) copies(source datasets.Set) {
	width := datasets.Size(source.Shape())
	row, seed, seen, copies := make([]float32, width), maphash.MakeSeed(), map[uint64]bool{}, 0
	var text bytes.Buffer
	var first []float32 // values of the first rows' columns
	for i := range source.Len() {
		source.CopyRow(row, i)
		if i < 200 {
			first = append(first, row...)
		}
		text.Reset()
		binary.Write(&text, binary.LittleEndian, row)
		hash := maphash.Bytes(seed, text.Bytes())
		if seen[hash] {
			copies++
		}
		seen[hash] = true
	}
	continuous := false
	for j := 0; j < width && !continuous; j++ {
		different := map[float32]bool{}
		for i := j; i < len(first); i += width {
			different[first[i]] = true
		}
		continuous = 2*len(different) > len(first)/width
	}
	share := float64(copies) / float64(source.Len())
	if !continuous || share < worthCopies {
		return
	}
	b.warnings = append(b.warnings, fmt.Sprintf("%d of %d rows of the source (%.0f%%) have exactly the values of another row. If they are copies, remove them; if they belong together, name the column that says so with --group-column: otherwise accuracies are too high, and intervals too narrow.", copies, source.Len(), 100*share))
	if share >= blatantCopies {
		b.say(fmt.Sprintf("%.0f%% of the source's rows are copies of others", 100*share))
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
func (s looked) partitions(source rowSet, rows []int, idColumn string, learnt table.Learnt, isTable bool) (all []partition) {
	if repeated, _ := repeatedIDs(source, idColumn); repeated > 0 {
		p, places := partition{name: idColumn, ids: true}, map[string]int{}
		for _, row := range rows {
			p.of = append(p.of, numberOf(places, source.ID(row)))
		}
		p.levels = len(places)
		all = append(all, p)
	}
	if source.Columns() == nil || !isTable { // no column of an array has a meaning of its own
		return all
	}
	add := func(name string, from, levels, to int) {
		if p, is := s.partition(name, from, levels, to); is {
			all = append(all, p)
		}
	}
	at := 0
	for _, c := range learnt.Encoding {
		to := at + max(1, len(c.Levels))
		if c.Missing {
			to++
		}
		add(c.Column, at, len(c.Levels), to)
		at = to
	}
	if learnt.Encoding == nil {
		for j, name := range source.Columns() {
			add(name, j, 0, j+1)
		}
	}
	return all
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

// partition is that by a column, whose values begin at a place: one each of so many words, or one number.
func (s looked) partition(name string, from, words, to int) (p partition, is bool) {
	p = partition{name: name, from: from, to: to, order: words == 0}
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

// missing reports whether hardly a row of the target has a value of the column that the source has.
func (s looked) missing(p partition, target looked) bool {
	known := map[float32]bool{}
	for i := p.from; i < len(s.values) && p.order; i += s.width {
		known[s.values[i]] = true
	}
	has, n := 0, len(target.values)/target.width
	for i := range n {
		row := target.values[i*s.width:]
		if p.order && known[row[p.from]] || !p.order && slices.Contains(row[p.from:p.to], 1) {
			has++
		}
	}
	return 10*has < n
}

// falls reports whether the class of the most similar row, by the other columns, is right less often if
// that row may not be of the same level, by more than chance, and whether similar rows are of the same
// level more often than others, as a group's are. Those of a measurement are of the next levels too.
func (s looked) falls(p partition) (falls bool, before, after float64, same bool) {
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
		return false, 0, 0, false
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
		return false, 0, 0, false
	}
	before, after = before/asked, after/asked
	measured := next-expectedNext > clearlyFewer*math.Sqrt(expectedNext)
	return before-after >= worthFalling && lost-gained > clearlyFewer*math.Sqrt(lost+gained), before, after, alike > 3*expected && !measured
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
