package table

import (
	"cmp"
	"slices"
	"strings"
)

// LevelsOf is how many different values a column has.
type LevelsOf struct {
	Column string
	Values int
	words  bool
}

// Levels lists the columns that could be labels: of two to 50 different values, each of which stands
// in two rows or more. Those of words come first, then those with fewer values.
func Levels(f File) ([]LevelsOf, error) {
	type column struct {
		LevelsOf
		rows map[string]int
		many bool
	}
	var columns []*column
	if err := f.look(Reference{}, func(t *Table) cellFunc {
		for _, name := range t.columns {
			columns = append(columns, &column{LevelsOf: LevelsOf{Column: name}, rows: make(map[string]int)})
		}
		return func(_ *Batch, values []float32, _, j int, text string) ([]float32, error) {
			c := columns[j]
			if c.many || isMissing(text) {
				return values, nil
			}
			text = strings.TrimSpace(text)
			if c.rows[text] == 0 {
				text = strings.Clone(text)
				c.many = len(c.rows) == mostLevels
			}
			c.rows[text]++
			_, isNumber, err := t.number(text)
			c.words = c.words || !isNumber
			return values, err
		}
	}); err != nil {
		return nil, err
	}
	var levels []LevelsOf
	for _, c := range columns {
		c.Values = len(c.rows)
		single := false
		for _, rows := range c.rows {
			single = single || rows < 2
		}
		if !c.many && !single && c.Values > 1 {
			levels = append(levels, c.LevelsOf)
		}
	}
	slices.SortStableFunc(levels, func(a, b LevelsOf) int {
		if a.words != b.words {
			return int(truth(b.words) - truth(a.words))
		}
		return cmp.Compare(a.Values, b.Values)
	})
	return levels, nil
}
