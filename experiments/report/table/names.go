package table

import (
	"slices"
	"strings"

	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

const averageHead = "Avg."

// groupHead names a task as the paper does: M → U, sM → U where the source is
// subsampled.
func (t paperLayout) groupHead(variant string, group summary.Group) string {
	prefix, tasks := variantPrefix(variant), paper.Tasks(t.Dataset, config.Full)
	switch {
	case t.by == byFamily || len(tasks) == 1:
		return prefix + sheet.Escape(displayName(t.Dataset))
	case group.Task == paper.Average:
		return averageHead
	}
	source, target := group.Source, group.Target
	if tasks != nil {
		source, target = strings.ToUpper(source[:1]), strings.ToUpper(target[:1])
	}
	return prefix + sheet.Escape(source) + ` $\rightarrow$ ` + sheet.Escape(target)
}

// abbreviations explains the heads of the columns.
func (t paperLayout) abbreviations() string {
	var domains []string
	tasks := paper.Tasks(t.Dataset, config.Full)
	if t.by != byTask || len(tasks) < 2 {
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
	return sheet.Escape(variant) + ": "
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
func (t paperLayout) methodHead(m config.Method) string {
	if m.Alignment == config.NoAlignment {
		return "No DA"
	}
	base := strings.ToUpper(string(m.Alignment))
	suffix := ""
	if m.Weights == config.OracleWeights && t.by != byFamily {
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
