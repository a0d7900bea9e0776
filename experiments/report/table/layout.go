package table

import (
	"fmt"
	"math"
	"slices"

	"iwda/experiments/config"
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

// mostColumns is the number of tasks side by side in LaTeX; more go below.
const mostColumns = 6

// layout says what the columns of a table of accuracies are in LaTeX.
type layout int

const (
	byTask    layout = iota // the tasks of each variant
	byDataset               // the variants of each data set
	byFamily                // the variants of each family of methods
)

// paperLayout lays accuracies out as the paper does.
type paperLayout struct {
	summary.Accuracies
	by layout
}

// column is one of a tabular: its head and a row a method.
type column struct {
	head string
	rows []summary.Row
}

// tabulars lays the table out as the paper does, three times: best epoch, last
// epoch, and the paper's numbers with our difference.
func (t paperLayout) tabulars() []sheet.Tabular {
	var all []sheet.Tabular
	for _, view := range t.views() {
		for _, parts := range t.pages() {
			blocks, spec := t.methodBlocks(parts, view)
			if t.by == byFamily {
				blocks, spec = sideBySide(blocks, spec)
			}
			all = append(all, sheet.Tabular{
				Caption: sheet.Escape(t.Title+": ") + view.caption + sheet.Escape(t.abbreviations()),
				Columns: spec, Blocks: blocks,
			})
		}
	}
	return all
}

// view is what the cells of a tabular show.
type view struct {
	caption string
	score   func(summary.Row) summary.Score
	paper   bool
}

func (t paperLayout) views() []view {
	const cells = `mean $\pm$ standard deviation over seeds in percent; subscript: share of seeds won; superscript: seeds finished of planned, where some are missing.`
	var views []view
	for _, v := range t.Shown() {
		if caption := summary.Views[v].Caption; caption != "" {
			views = append(views, view{caption: caption + "; " + cells, score: func(r summary.Row) summary.Score { return r.Scores[v] }})
		}
	}
	if t.InPaper {
		views = append(views, view{
			caption: "the paper's numbers; in brackets: our best epoch less the paper's.", paper: true,
			score: func(r summary.Row) summary.Score { return r.Paper },
		})
	}
	return views
}

// part is a stretch of a tabular under one head: columns in groups, between which a
// rule stands.
type part [][]column

// pages returns the parts of each tabular.
func (t paperLayout) pages() [][]part {
	switch {
	case len(t.Blocks) == 0:
		return nil
	case t.by == byDataset:
		return [][]part{{t.datasetColumns()}}
	}
	var blocks part
	widest := 0
	for _, block := range t.Blocks {
		var columns []column
		for _, group := range block.Groups {
			columns = append(columns, column{t.groupHead(block.Variant, group), group.Rows})
		}
		blocks = append(blocks, columns)
		widest = max(widest, len(columns))
	}
	if widest <= 3 && len(blocks) <= 2 {
		return [][]part{{blocks}}
	}
	var pages [][]part
	for _, columns := range blocks {
		pages = append(pages, stack(columns))
	}
	return pages
}

// datasetColumns puts the variants of each data set side by side.
func (t paperLayout) datasetColumns() part {
	var names []string
	var columns part
	for _, block := range t.Blocks {
		for _, group := range block.Groups {
			place := slices.Index(names, group.Task)
			if place < 0 {
				place = len(names)
				names, columns = append(names, group.Task), append(columns, nil)
			}
			head := variantPrefix(block.Variant) + sheet.Escape(displayName(group.Task))
			columns[place] = append(columns[place], column{head, group.Rows})
		}
	}
	return columns
}

// stack puts columns beyond mostColumns below the others; an average does not go
// below alone.
func stack(columns []column) []part {
	var parts []part
	for len(columns) > mostColumns+1 {
		parts = append(parts, part{columns[:mostColumns]})
		columns = columns[mostColumns:]
	}
	return append(parts, part{columns})
}

// methodBlocks returns the blocks of a tabular, each head and each family one, an empty
// one between parts, and its columns, which are those of the widest part.
func (t paperLayout) methodBlocks(parts []part, v view) (blocks [][]sheet.Line, spec string) {
	for i, p := range parts {
		if i > 0 {
			blocks = append(blocks, nil)
		}
		blocks = append(blocks, t.partBlocks(p, v)...)
		if s := p.columns(); len(s) > len(spec) {
			spec = s
		}
	}
	return blocks, spec
}

// columns is the argument of tabular for the part: averages stand apart.
func (p part) columns() string {
	spec := "l"
	for i, group := range p {
		if i > 0 {
			spec += "|"
		}
		for j, c := range group {
			if j > 0 && c.head == averageHead {
				spec += "|"
			}
			spec += "c"
		}
	}
	return spec
}

func (t paperLayout) partBlocks(p part, v view) [][]sheet.Line {
	head := sheet.Line{"Method"}
	columns := slices.Concat(p...)
	for _, c := range columns {
		head = append(head, c.head)
	}
	blocks := [][]sheet.Line{{head}}
	family := config.Alignment("")
	for _, name := range t.methods() {
		method, _ := config.ParseMethod(name)
		if method.Alignment != family {
			blocks = append(blocks, nil)
			family = method.Alignment
		}
		line := sheet.Line{t.methodHead(method)}
		for _, c := range columns {
			line = append(line, texCell(c, method, v))
		}
		last := len(blocks) - 1
		blocks[last] = append(blocks[last], line)
	}
	return blocks
}

// methods returns the methods of all rows, in the order of the rows of an ablation,
// else in that of the paper's other tables.
func (t paperLayout) methods() []string {
	var names []string
	for _, row := range t.Rows() {
		if !slices.Contains(names, row.Method) {
			names = append(names, row.Method)
		}
	}
	if t.by == byFamily {
		return names
	}
	return config.Ordered(names)
}

// texCell prints a score as the paper does: in bold the best of a family, oracles
// aside, and the share of wins as a subscript.
func texCell(c column, method config.Method, v view) string {
	place := slices.IndexFunc(c.rows, func(r summary.Row) bool { return r.Method == method.Name })
	if place < 0 {
		return "N/A"
	}
	row := c.rows[place]
	s := v.score(row)
	if math.IsNaN(s.Mean) {
		return sheet.Escape(sheet.None)
	}
	text := fmt.Sprintf("%.2f", s.Mean)
	if leads(s.Mean, c, method, v) {
		text = `\textbf{` + text + `}`
	}
	if !math.IsNaN(s.Deviation) {
		text += fmt.Sprintf(`{\scriptsize$\pm$%.2f}`, s.Deviation)
	}
	if !math.IsNaN(s.Wins) {
		text += fmt.Sprintf(`$_{%.0f\%%}$`, s.Wins)
	}
	if !v.paper && row.Seeds < row.Planned {
		text += fmt.Sprintf(`$^{%d/%d}$`, row.Seeds, row.Planned)
	}
	if difference := row.Difference(); v.paper && !math.IsNaN(difference) {
		text += fmt.Sprintf(` ($%+.2f$)`, difference)
	}
	return text
}

// leads reports whether the method's mean, as printed, is the highest of the methods
// with its alignment but for those with true weights.
func leads(mean float64, c column, method config.Method, v view) bool {
	if method.Weights == config.OracleWeights {
		return false
	}
	rivals := 0
	for _, row := range c.rows {
		other, _ := config.ParseMethod(row.Method)
		if row.Method == method.Name || other.Alignment != method.Alignment || other.Weights == config.OracleWeights {
			continue
		}
		rival := v.score(row).Mean
		if math.Round(100*rival) > math.Round(100*mean) {
			return false
		}
		if !math.IsNaN(rival) {
			rivals++
		}
	}
	return rivals > 0
}

// sideBySide puts the second family to the right of the first, as in the paper's
// ablations, where there are two with as many methods.
func sideBySide(blocks [][]sheet.Line, spec string) ([][]sheet.Line, string) {
	if len(blocks) != 3 || len(blocks[1]) != len(blocks[2]) {
		return blocks, spec
	}
	head, left, right := blocks[0][0], blocks[1], blocks[2]
	joined := [][]sheet.Line{{slices.Concat(head, head)}, nil}
	for i := range left {
		joined[1] = append(joined[1], slices.Concat(left[i], right[i]))
	}
	return joined, spec + spec
}
