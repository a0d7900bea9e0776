package adapt

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"iwda/datasets"
	"iwda/internal/evenly"
)

// units are domains in which rows may belong together, though no column is named that says so.
type units struct {
	source, target rowSet
	columns        []column
}

// find looks for a column, or several together, whose values repeat in the source, and of which the target has next
// to none: then units were drawn, as patients are, and not rows. Ranges that moved tell the domains apart too, so the numbers
// of a column alone must be names, or whole ones that do not lie beside those of their own domain. Of columns that tell it
// alone the one with the fewest groups is taken, as what is within units, such as a patient's days, is not shared either.
func (u units) find() (t together) {
	left := make(map[int]bool)
	for j, of := range u.columns {
		if of.words > 0 || of.learnt.Apart == "" { // no dates of another time
			left[j] = true
		}
	}
	cells, fewest := u.cellsOf(nil, left), 0
	for _, j := range ranked(cells, worthAColumn) {
		delete(left, j)
		c, of := cells[j], u.columns[j]
		plain, beside := c.plain(), u.beside(c, []int{j})
		switch {
		case plain && (of.words > 0 || !beside && u.whole(of) || u.numbered(c, of)):
			if n := c.groups(); t.because == "" || n < fewest && !beside {
				fewest, t = n, u.together(c, []int{j}, beside || of.words > 0)
			}
		case !plain && t.because == "" && !beside && of.learnt.Apart == "":
			return u.several([]int{j}, c.lost(), left)
		}
	}
	return t
}

// several adds columns to the chosen ones, as long as they tell the domains apart more than before. Values
// may not lie beside those of their own domain, as those of a range that moved do.
func (u units) several(chosen []int, before float64, left map[int]bool) together {
	cells := u.cellsOf(chosen, left)
	for _, j := range ranked(cells, before+worthAColumn) {
		delete(left, j)
		c, all := cells[j], append(slices.Clip(chosen), j)
		switch {
		case u.beside(c, all) || u.columns[j].learnt.Apart != "":
		case c.plain():
			return u.together(c, all, false)
		default:
			return u.several(all, c.lost(), left)
		}
	}
	return together{}
}

// together says of columns that they tell which rows belong together, as one of groups if it is a name and no feature.
func (u units) together(c *cells, columns []int, name bool) (t together) {
	for _, j := range slices.Sorted(slices.Values(columns)) {
		t.by = append(t.by, u.columns[j].name)
	}
	if name {
		t.group, t.by = t.by[0], nil
	}
	t.because = "their values repeat in the source, and the target has others"
	t.evidence = fmt.Sprintf("%.0f%% of the target's rows have values that the source has, and of independent rows about %.0f%% would", 100*c.known, 100*c.expected)
	return t
}

// cells are the rows of both domains by their values in some columns: those of every part-th cell, by chance, if
// there are very many.
type cells struct {
	of              map[uint64]*sameRows
	part            uint64
	expected, known float64 // shares of the target's rows whose values the source has: of independent rows, and found
}

// sameRows are the rows that have the same values.
type sameRows struct {
	rows  [2]int // of source and target
	first int    // of the source's rows and, after them, the target's
}

func (c *cells) lost() float64 { return c.expected - c.known }

// plain tells whether values repeat in the source, and the target has next to none of them.
func (c *cells) plain() bool {
	return c.expected >= fewestMates && c.known < fewKnown*c.expected && c.groups() >= fewestLevels
}

// ranked are the columns whose cells have lost as much or more, those that lost most first.
func ranked(cells map[int]*cells, least float64) []int {
	lost := func(j int) float64 { return cells[j].lost() }
	columns := slices.SortedFunc(maps.Keys(cells), func(a, b int) int { return cmp.Or(cmp.Compare(lost(b), lost(a)), a-b) })
	return slices.DeleteFunc(columns, func(j int) bool { return lost(j) < least })
}

// add counts a row of one of the domains.
func (c *cells) add(hash uint64, domain, row int) {
	if hash%c.part != 0 {
		return
	}
	if c.of[hash] == nil {
		c.of[hash] = &sameRows{first: row}
	}
	c.of[hash].rows[domain]++
	if len(c.of) > 2*mostLooked {
		c.part *= 2
		maps.DeleteFunc(c.of, func(hash uint64, _ *sameRows) bool { return hash%c.part != 0 })
	}
}

// cellsOf are those by the chosen columns and each of the others.
func (u units) cellsOf(chosen []int, others map[int]bool) map[int]*cells {
	all := map[int]*cells{}
	for j := range others {
		all[j] = &cells{of: map[uint64]*sameRows{}, part: 1}
	}
	row := make([]float32, datasets.Size(u.source.Shape()))
	for domain, set := range []rowSet{u.source, u.target} {
		for i := range set.Len() {
			set.CopyRow(row, i)
			var hash uint64
			for _, j := range chosen {
				hash += u.columns[j].hash(row)
			}
			for j, c := range all {
				c.add(hash+u.columns[j].hash(row), domain, domain*u.source.Len()+i)
			}
		}
	}
	for j, c := range all {
		c.count()
		if of := u.columns[j]; of.words > 0 && chosen == nil { // the encoding has the most frequent words alone
			c.expected, c.known = 1-of.learnt.Alone, of.learnt.Known
			if 2*of.learnt.Missing[0] > u.source.Len() {
				c.expected = 0
			}
		}
	}
	return all
}

// count finds the shares. Of independent rows the next one has values that were not there before with a probability of
// about the share of rows whose values no other has (Good 1953, Turing's estimator).
func (c *cells) count() {
	rows, alone, known := [2]int{}, 0, 0
	for _, cell := range c.of {
		rows[0], rows[1] = rows[0]+cell.rows[0], rows[1]+cell.rows[1]
		if cell.rows[0] == 1 {
			alone++
		}
		if cell.rows[0] > 0 {
			known += cell.rows[1]
		}
	}
	c.expected, c.known = 1-float64(alone)/float64(max(1, rows[0])), float64(known)/float64(max(1, rows[1]))
}

// groups is the number of cells with rows of the source, about.
func (c *cells) groups() (n int) {
	for _, cell := range c.of {
		if cell.rows[0] > 0 {
			n += int(c.part)
		}
	}
	return n
}

// beside reports whether the cell that is the most similar to another by these columns is of its domain much more often than by
// chance, among those whose rows are all of one domain.
func (u units) beside(c *cells, columns []int) bool {
	var values [][]float32
	var targets []bool
	row := make([]float32, datasets.Size(u.source.Shape()))
	for _, cell := range slices.SortedFunc(maps.Values(c.of), func(a, b *sameRows) int { return a.first - b.first }) {
		if cell.rows[0] > 0 && cell.rows[1] > 0 {
			continue
		}
		if n := u.source.Len(); cell.first < n {
			u.source.CopyRow(row, cell.first)
		} else {
			u.target.CopyRow(row, cell.first-n)
		}
		var of []float32
		for _, j := range columns {
			of = append(of, row[u.columns[j].from:u.columns[j].to]...)
		}
		values, targets = append(values, of), append(targets, cell.rows[1] > 0)
	}
	at := 0
	for _, j := range columns {
		if u.columns[j].words == 0 {
			scale(values, at)
		}
		at += u.columns[j].to - u.columns[j].from
	}
	asked, same, chance := 0.0, 0.0, 0.0
	for _, i := range evenly.Rows(len(values), mostAsked) {
		least, nearest, alike, all := float32(math.MaxFloat32), 0.0, 0.0, 0.0
		for j := range values {
			if j == i {
				continue
			}
			own := 0.0
			if targets[j] == targets[i] {
				own = 1
			}
			all += own
			if d := distance(values[i], values[j], least); d < least {
				least, nearest, alike = d, 1, own
			} else if d == least {
				nearest, alike = nearest+1, alike+own
			}
		}
		if nearest > 0 {
			asked, same, chance = asked+1, same+alike/nearest, chance+all/float64(len(values)-1)
		}
	}
	return same-chance > mostBeside*(asked-chance)
}

// whole reports whether all numbers of a column differ by whole ones, and both domains' by multiples of the same: a
// measurement of one of them may have been rounded more. Rounded, and then converted to another unit, it is on a grid of
// nearly equal steps, none of which is much smaller than most.
func (u units) whole(of column) bool {
	row, first := make([]float32, datasets.Size(u.source.Shape())), math.NaN()
	var steps [2]int64 // the greatest common divisors
	for domain, set := range []rowSet{u.source, u.target} {
		var numbers []float64
		for i := range set.Len() {
			if set.CopyRow(row, i); of.to == of.from+1 || row[of.from+1] == 0 { // not missing
				numbers = append(numbers, float64(row[of.from]))
			}
		}
		slices.Sort(numbers)
		if first != first && len(numbers) > 0 {
			first = numbers[0]
		}
		var between []int64
		before := first
		for at, number := range slices.Compact(numbers) {
			apart := math.Abs(number - before)
			if apart != math.Trunc(apart) || math.Abs(number-first) > 1<<24 {
				return false
			}
			for step := int64(apart); step != 0; {
				steps[domain], step = step, steps[domain]%step
			}
			if at > 0 {
				between = append(between, int64(apart))
			}
			before = number
		}
		slices.Sort(between)
		if n := len(between); n > 0 && between[0] > steps[domain] && 2*between[0] >= between[n/2] {
			return false
		}
	}
	return steps[0] == steps[1]
}

// numbered reports whether the numbers of a column are names, as those of patients are: in some other columns rows with the
// same number are alike, and those with the next number hardly more than any others. What was measured has an order.
func (u units) numbered(c *cells, of column) bool {
	width, rows := datasets.Size(u.source.Shape()), map[float32]float64{}
	row, all, squares := make([]float32, width), make([]float64, width), make([]float64, width)
	sums := map[float32][]float64{}
	n := 0.0
	for i := range u.source.Len() {
		if u.source.CopyRow(row, i); of.hash(row)%c.part != 0 {
			continue
		}
		v := row[of.from]
		if rows[v] == 0 {
			sums[v] = make([]float64, width)
		}
		rows[v], n = rows[v]+1, n+1
		for j, x := range row {
			x := float64(x)
			sums[v][j], all[j], squares[j] = sums[v][j]+x, all[j]+x, squares[j]+x*x
		}
	}
	numbers := slices.Sorted(maps.Keys(rows))
	levels := float64(len(numbers))
	var allNext, allBetween float64 // beside those within, of columns in which rows are alike
	for j := range width {
		total := squares[j] - all[j]*all[j]/n
		if j >= of.from && j < of.to || total <= 0 {
			continue
		}
		var means, next float64
		for i, v := range numbers {
			mean := sums[v][j] / rows[v]
			means += mean * sums[v][j]
			if i > 0 {
				before := numbers[i-1]
				apart := mean - sums[before][j]/rows[before]
				next += apart * apart / (1/rows[v] + 1/rows[before]) / (levels - 1)
			}
		}
		between, within := (means-all[j]*all[j]/n)/(levels-1), (squares[j]-means)/(n-levels) // mean squares
		if between < alike*within {
			continue
		}
		if next-within < someOrder*(between-within) {
			return false
		}
		allNext, allBetween = allNext+(next-within)/total, allBetween+(between-within)/total
	}
	return allNext > order*allBetween
}

// scale divides the values at a place by their deviation.
func scale(values [][]float32, at int) {
	var sum, squares float64
	for _, of := range values {
		sum, squares = sum+float64(of[at]), squares+float64(of[at])*float64(of[at])
	}
	n := float64(len(values))
	deviation := math.Sqrt(squares/n - sum/n*sum/n)
	for _, of := range values {
		if deviation > 0 {
			of[at] /= float32(deviation)
		}
	}
}

// copied warns of rows that have the same values as one before them, though a column has many values.
func (b *belonging) copied(source rowSet) {
	seen, copies, row := map[uint64]bool{}, 0, make([]float32, datasets.Size(source.Shape()))
	different := make([]map[float32]bool, len(row))
	for i := range source.Len() {
		source.CopyRow(row, i)
		hash := column{to: len(row)}.hash(row)
		if seen[hash] {
			copies++
		}
		seen[hash] = true
		for j, v := range row {
			if i == 0 {
				different[j] = map[float32]bool{}
			}
			if i < 200 {
				different[j][v] = true
			}
		}
	}
	continuous := slices.ContainsFunc(different, func(values map[float32]bool) bool { return 2*len(values) > min(200, source.Len()) })
	share := float64(copies) / float64(source.Len())
	if !continuous || share < worthCopies {
		return
	}
	b.warnings = append(b.warnings, fmt.Sprintf("%d of %d rows of the source (%.0f%%) have exactly the values of another row. If they are copies, remove them; if they belong together, name the column that says so with --group-column: otherwise accuracies are too high, and intervals too narrow.", copies, source.Len(), 100*share))
	if share >= blatantCopies {
		b.blatant = fmt.Sprintf("%.0f%% of the source's rows are copies of others", 100*share)
	}
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

// hash is that of the column's values in a row. That of several columns is the sum.
func (c column) hash(row []float32) (sum uint64) {
	for at := c.from; at < c.to; at++ {
		if v := row[at]; v != 0 { // as most of those of words are
			sum += evenly.Mix(uint64(at)<<32 | uint64(math.Float32bits(v)))
		}
	}
	return sum
}
