package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/experiments/paper"
)

// mostColumns is the number of tasks side by side in LaTeX; more go below.
const mostColumns = 6

// column is one of a table in LaTeX: its head and its rows by method.
type column struct {
	head string
	rows map[string]Row
}

// tabulars lays the table out as the paper does, three times: best epoch, last
// epoch, and the paper's numbers with our difference.
func (t Table) tabulars() []Tabular {
	var all []Tabular
	for _, view := range t.views() {
		for _, parts := range t.pages() {
			lines, spec := t.methodLines(parts, view)
			if t.layout == byFamily {
				lines, spec = sideBySide(lines, spec)
			}
			all = append(all, Tabular{
				Caption: escapeLaTeX(t.Title+": ") + view.caption + escapeLaTeX(t.abbreviations()),
				Columns: spec, Lines: lines,
			})
		}
	}
	return all
}

// view is what the cells of a tabular show.
type view struct {
	caption string
	score   func(Row) Score
	paper   bool
}

func (t Table) views() []view {
	const cells = `mean $\pm$ standard deviation over seeds in percent; subscript: share of seeds won; superscript: seeds finished of planned, where some are missing.`
	views := []view{
		{caption: "best epoch, chosen on target labels; " + cells, score: func(r Row) Score { return r.Best }},
		{caption: "last epoch; " + cells, score: func(r Row) Score { return r.Last }},
	}
	if t.InPaper {
		views = append(views, view{
			caption: "the paper's numbers; in brackets: our best epoch less the paper's.", paper: true,
			score: func(r Row) Score { return Score{Mean: r.Paper, Deviation: math.NaN(), Wins: r.PaperWins} },
		})
	}
	return views
}

// part is a stretch of a tabular under one head: columns in groups, between which a
// rule stands.
type part [][]column

// pages returns the parts of each tabular.
func (t Table) pages() [][]part {
	switch {
	case len(t.Blocks) == 0:
		return nil
	case t.layout == byDataset:
		return [][]part{{t.datasetColumns()}}
	}
	var blocks part
	widest := 0
	for _, block := range t.Blocks {
		var columns []column
		for _, group := range block.Groups {
			columns = append(columns, column{t.groupHead(block.Variant, group.Task), rowsByMethod(group)})
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
func (t Table) datasetColumns() part {
	var names []string
	var columns part
	for _, block := range t.Blocks {
		for _, group := range block.Groups {
			place := slices.Index(names, group.Task)
			if place < 0 {
				place = len(names)
				names, columns = append(names, group.Task), append(columns, nil)
			}
			head := variantPrefix(block.Variant) + escapeLaTeX(displayName(group.Task))
			columns[place] = append(columns[place], column{head, rowsByMethod(group)})
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

func rowsByMethod(group Group) map[string]Row {
	rows := map[string]Row{}
	for _, row := range group.Rows {
		rows[row.Method] = row
	}
	return rows
}

// methodLines returns the lines of a tabular, head first, families apart, and its
// columns, which are those of the widest part.
func (t Table) methodLines(parts []part, v view) (lines []string, spec string) {
	for i, p := range parts {
		if i > 0 {
			lines = append(lines, `\midrule`, `\midrule`)
		}
		lines = append(lines, t.partLines(p, v)...)
		if s := p.columns(); len(s) > len(spec) {
			spec = s
		}
	}
	return lines, spec
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

func (t Table) partLines(p part, v view) []string {
	head := []string{"Method"}
	var columns []column
	for _, group := range p {
		for _, c := range group {
			head = append(head, c.head)
			columns = append(columns, c)
		}
	}
	lines := []string{texRow(head)}
	family := config.Alignment("")
	for _, name := range t.methods() {
		method, _ := config.ParseMethod(name)
		if method.Alignment != family {
			lines = append(lines, `\midrule`)
			family = method.Alignment
		}
		cells := []string{t.methodHead(method)}
		for _, c := range columns {
			cells = append(cells, texCell(c, method, v))
		}
		lines = append(lines, texRow(cells))
	}
	return lines
}

// methods returns the methods of all rows, in the order of the rows of an ablation,
// else in that of the paper's other tables.
func (t Table) methods() []string {
	if t.layout == byFamily {
		var names []string
		for _, row := range t.Blocks[0].Groups[0].Rows {
			names = append(names, row.Method)
		}
		return names
	}
	present := map[string]bool{}
	for _, block := range t.Blocks {
		for _, group := range block.Groups {
			for _, row := range group.Rows {
				present[row.Method] = true
			}
		}
	}
	return slices.DeleteFunc(config.MethodNames(), func(name string) bool { return !present[name] })
}

// texCell prints a score as the paper does: in bold the best of a family, oracles
// aside, and the share of wins as a subscript.
func texCell(c column, method config.Method, v view) string {
	row, ok := c.rows[method.Name]
	if !ok || row.Planned == 0 && math.IsNaN(row.Paper) {
		return "N/A"
	}
	s := v.score(row)
	if math.IsNaN(s.Mean) {
		return escapeLaTeX(none)
	}
	text := fmt.Sprintf("%.2f", s.Mean)
	if leads(c, method, v) {
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
func leads(c column, method config.Method, v view) bool {
	if method.Weights == config.OracleWeights {
		return false
	}
	mean, rivals := v.score(c.rows[method.Name]).Mean, 0
	for name, row := range c.rows {
		other, _ := config.ParseMethod(name)
		if name == method.Name || other.Alignment != method.Alignment || other.Weights == config.OracleWeights {
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

// sideBySide puts the lines of the second family to the right of the first's, as in
// the paper's ablations. There is one head and as many methods in both.
func sideBySide(lines []string, spec string) ([]string, string) {
	head, rest := lines[0], lines[1:]
	var families [][]string
	for _, line := range rest {
		if line == `\midrule` {
			families = append(families, nil)
			continue
		}
		families[len(families)-1] = append(families[len(families)-1], line)
	}
	if len(families) != 2 || len(families[0]) != len(families[1]) {
		return lines, spec
	}
	beside := func(left, right string) string { return strings.TrimSuffix(left, `\\`) + "& " + right }
	joined := []string{beside(head, head), `\midrule`}
	for i := range families[0] {
		joined = append(joined, beside(families[0][i], families[1][i]))
	}
	return joined, spec + spec
}

const averageHead = "Avg."

// groupHead names a task as the paper does: M → U, sM → U where the source is
// subsampled.
func (t Table) groupHead(variant, task string) string {
	prefix, tasks := variantPrefix(variant), paper.Tasks(t.Dataset, config.Full)
	switch {
	case t.layout == byFamily || len(tasks) == 1:
		return prefix + escapeLaTeX(displayName(t.Dataset))
	case task == paper.Average:
		return averageHead
	}
	source, target, _ := strings.Cut(task, "-")
	if tasks != nil {
		source, target = strings.ToUpper(source[:1]), strings.ToUpper(target[:1])
	}
	return prefix + escapeLaTeX(source) + ` $\rightarrow$ ` + escapeLaTeX(target)
}

// abbreviations explains the heads of the columns.
func (t Table) abbreviations() string {
	var domains []string
	tasks := paper.Tasks(t.Dataset, config.Full)
	if t.layout != byTask || len(tasks) < 2 {
		return " The prefix s marks a subsampled source."
	}
	for _, task := range tasks {
		source, _, _ := strings.Cut(task, "-")
		if entry := strings.ToUpper(source[:1]) + ": " + source; !slices.Contains(domains, entry) {
			domains = append(domains, entry)
		}
	}
	return " " + strings.Join(domains, ", ") + "; the prefix s marks a subsampled source."
}

// variantPrefix marks a column of that variant.
func variantPrefix(variant string) string {
	switch variant {
	case config.Full:
		return ""
	case config.Subsampled:
		return "s"
	}
	return escapeLaTeX(variant) + ": "
}

// displayName is the paper's name of a data set or domain, and the name itself where it
// is of neither.
func displayName(name string) string {
	for _, data := range catalogue.All() {
		if data.Name == name {
			return data.Head
		}
		if domain, err := data.Domain(name); err == nil {
			return domain.Head
		}
	}
	return name
}

// methodHead is the paper's name of a method.
func (t Table) methodHead(m config.Method) string {
	if m.Alignment == config.NoAlignment {
		return "No DA"
	}
	base := strings.ToUpper(string(m.Alignment))
	suffix := ""
	if m.Weights == config.OracleWeights && t.layout != byFamily {
		suffix = " (true)"
	}
	switch {
	case m.WeightClassification == m.WeightDomain:
		return strings.ToUpper(m.Name)
	case m.WeightClassification:
		return base + ` + $\mathcal{L}_{C}^{\mathbf{w}}$` + suffix
	}
	return base + ` + $\mathcal{L}_{DA}^{\mathbf{w}}$` + suffix
}
