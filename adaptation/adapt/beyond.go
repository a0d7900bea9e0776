package adapt

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"iwda/datasets"
	"iwda/internal/evenly"
	"iwda/internal/printable"
)

// What makes a column differ beyond what class shares explain: other shares of the same classes leave the
// mean between those of the classes, and the variance between the least of a class and the largest plus
// that of means at both ends (Popoviciu 1935).
const (
	clearlyBeyond = 4   // standard errors
	worthMoving   = 0.5 // of the source's standard deviation, between means
	worthScaling  = 2   // ratio of standard deviations
	worthSharing  = 0.1 // between shares of rows
	mostMoments   = 1 << 22
)

// moments are those of a value in some rows.
type moments struct{ n, mean, square float64 }

// add adds a row's value (Welford 1962).
func (m *moments) add(value float64) {
	m.n++
	away := value - m.mean
	m.mean += away / m.n
	m.square += away * (value - m.mean)
}

func (m moments) deviation() float64 { return math.Sqrt(m.square / m.n) }

// rowValue is a value of the rows.
type rowValue struct {
	column int
	share  string // of rows, of what: a word or what is missing; "" for a number
	flag   int    // the place of the value that says whether this one is missing, -1 for none
}

// momentsOf are those of some values of the rows, the first of which has a place, by class. A value that
// is missing does not count.
func momentsOf(set datasets.Set, class func(row int) int, classes int, values []rowValue, first int) [][]moments {
	all := make([][]moments, len(values))
	for j := range all {
		all[j] = make([]moments, classes)
	}
	row := make([]float32, datasets.Size(set.Shape()))
	for _, i := range evenly.Rows(set.Len(), mostLooked) {
		set.CopyRow(row, i)
		for j, v := range values {
			if v.flag < 0 || row[v.flag] == 0 {
				all[j][class(i)].add(float64(row[first+j]))
			}
		}
	}
	return all
}

// valuesOfRows says what the values of rows are, names their columns, and says of those of words of which
// none is missing in the source which share is in the target.
func (d *Data) valuesOfRows() (values []rowValue, names []string, missing map[int]float64) {
	for j := 0; d.Learnt.Encoding == nil && j < d.Width; j++ {
		values, names = append(values, rowValue{j, "", -1}), append(names, d.Columns.name(j))
	}
	lacking := map[string]int{}
	for _, learnt := range d.Learnt.Columns {
		lacking[learnt.Name] = learnt.Missing[len(learnt.Missing)-1]
	}
	missing = map[int]float64{}
	for column, c := range d.Learnt.Encoding {
		names = append(names, fmt.Sprintf("%.100q", c.Column))
		flag := -1
		if c.Missing {
			flag = len(values) + max(1, len(c.Levels))
		} else if len(c.Levels) > 0 {
			missing[column] = float64(lacking[c.Column]) / float64(d.Target.Rows)
		}
		if len(c.Levels) == 0 {
			values = append(values, rowValue{column, "", flag})
		}
		for _, level := range c.Levels {
			values = append(values, rowValue{column, fmt.Sprintf("%.100q", level), flag})
		}
		if c.Missing {
			values = append(values, rowValue{column, "missing", -1})
		}
	}
	return values, names, missing
}

// lookBeyond finds the columns that differ beyond what class shares explain, of a source whose rows all
// have labels.
func (d *Data) lookBeyond(source, target datasets.Set) {
	values, names, missing := d.valuesOfRows()
	d.Columns.beyond = map[int][]string{}
	say := func(column int, said string) {
		if said != "" {
			d.Columns.beyond[column] = append(d.Columns.beyond[column], said)
		}
	}
	for column, share := range missing {
		say(column, beyondShare("missing", []moments{{n: float64(d.Source.Rows)}}, moments{float64(d.Target.Rows), share, 0}))
	}
	classes := len(d.Classes)
	for first, size := 0, max(1, mostMoments/classes); first < len(values); first += size {
		some := values[first:min(len(values), first+size)]
		ofSource := momentsOf(source, func(row int) int { class, _ := d.Source.labels.At(row); return class }, classes, some, first)
		ofTarget := momentsOf(target, func(int) int { return 0 }, 1, some, first)
		for j, v := range some {
			switch {
			case v.share == "":
				say(v.column, d.Columns.beyondNumber(first+j, ofSource[j], ofTarget[j][0]))
			case missing[v.column] == 0: // rows without a word have none of them
				say(v.column, beyondShare(v.share, ofSource[j], ofTarget[j][0]))
			}
		}
	}
	for column, name := range names {
		if said := d.Columns.beyond[column]; said != nil {
			d.Columns.differ = append(d.Columns.differ, fmt.Sprintf("%s (%s)", name, printable.FirstTen(said)))
		}
	}
}

// ends are the classes with the least and the largest mean.
func ends(classes []moments) (least, most moments) {
	byMean := func(a, b moments) int { return cmp.Compare(a.mean, b.mean) }
	return slices.MinFunc(classes, byMean), slices.MaxFunc(classes, byMean)
}

// away is how far outside the classes' means that of the target lies.
func away(least, most, target moments) (by float64, nearest moments) {
	if target.mean < least.mean {
		return least.mean - target.mean, least
	}
	return target.mean - most.mean, most
}

// beyondShare says that the share of the target's rows of which something is true is not between those of
// the classes; "" if it is.
func beyondShare(what string, classes []moments, target moments) string {
	classes = slices.DeleteFunc(classes, func(m moments) bool { return m.n == 0 })
	if len(classes) == 0 || target.n == 0 {
		return ""
	}
	least, most := ends(classes)
	by, nearest := away(least, most, target)
	variance := func(m moments) float64 { // of a share with one row of each kind more
		share := (m.n*m.mean + 1) / (m.n + 2)
		return share * (1 - share) / m.n
	}
	if by < worthSharing || by < clearlyBeyond*math.Sqrt(variance(nearest)+variance(target)) {
		return ""
	}
	return fmt.Sprintf("%s in %.0f%% of the target's rows, but in %.0f%% to %.0f%% of each class in the source", what, 100*target.mean, 100*least.mean, 100*most.mean)
}

// beyondNumber is beyondShare for a number: its mean, or else its standard deviation.
func (c Columns) beyondNumber(at int, classes []moments, target moments) string {
	classes = slices.DeleteFunc(classes, func(m moments) bool { return m.n == 0 })
	if len(classes) == 0 || target.n == 0 || c.odd(at) {
		return ""
	}
	var within moments
	low, high := classes[0], classes[0]
	for _, m := range classes {
		within.n, within.square = within.n+m.n, within.square+m.square
		if m.deviation() < low.deviation() {
			low = m
		}
		if m.deviation() > high.deviation() {
			high = m
		}
	}
	least, most := ends(classes)
	by, nearest := away(least, most, target)
	if by > worthMoving*float64(c.Source.Deviation[at]) && by > clearlyBeyond*math.Sqrt(within.deviation()*within.deviation()/nearest.n+target.square/target.n/target.n) {
		text := func(m moments) string { return c.text(at, float32(m.mean), c.Source.Deviation[at]) }
		return fmt.Sprintf("mean %s in the target, %s to %s in the source's classes", text(target), text(least), text(most))
	}
	// The relative error of a standard deviation is that of an exponential distribution, whose kurtosis is 9.
	enough := func(m moments) float64 { return worthScaling * (1 + clearlyBeyond*math.Sqrt(2/m.n+2/target.n)) }
	largest := math.Hypot(high.deviation(), (most.mean-least.mean)/2)
	if s := target.deviation(); s*enough(low) < low.deviation() || s > largest*enough(high) {
		return fmt.Sprintf("standard deviation %.4g in the target, but %.4g to %.4g by the source's classes", s, low.deviation(), largest)
	}
	return ""
}
