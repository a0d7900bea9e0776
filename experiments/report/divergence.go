package report

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/report/sheet"
)

// Divergences returns the Jensen-Shannon divergences between the label distributions of
// the paper's tasks, computed from the published numbers of training images of each class: the
// paper's three tables, each for whole and for subsampled sources, rows sources, columns targets.
func Divergences() sheet.Sheet {
	built := sheet.Sheet{
		Experiment: "jsd",
		Title:      "Jensen-Shannon divergence between the label distributions of source (rows) and target (columns)",
		Legend:     "Natural logarithm. Subsampled: the source keeps 30% of the images of each class in the first half of the classes.",
	}
	var all []taskDivergence
	for _, table := range []struct {
		title    string
		datasets []string
	}{{"Digits and VisDA", []string{"digits", "visda"}}, {"Office-31", []string{"office31"}}, {"Office-Home", []string{"officehome"}}} {
		for _, variant := range []string{config.Full, config.Subsampled} {
			var tasks []taskDivergence
			for _, dataset := range table.datasets {
				tasks = append(tasks, taskDivergences(dataset, variant)...)
			}
			built.Sections = append(built.Sections, divergenceSection(table.title+", "+variant, tasks))
			all = append(all, tasks...)
		}
	}
	built.Records = sheet.NewRecords(divergenceColumns, all)
	return built
}

// taskDivergence is the divergence of one task.
type taskDivergence struct {
	dataset, variant, source, target string
	jsd, paper                       float64
}

var divergenceColumns = []sheet.Column[taskDivergence]{
	word("dataset", "", func(d taskDivergence) string { return d.dataset }),
	word("variant", "", func(d taskDivergence) string { return d.variant }),
	word("source", "", func(d taskDivergence) string { return d.source }),
	word("target", "", func(d taskDivergence) string { return d.target }),
	number("jsd", "", noFormat, func(d taskDivergence) float64 { return d.jsd }),
	number("paper", "", noFormat, func(d taskDivergence) float64 { return d.paper }),
}

// taskDivergences are those of the paper's tasks of a data set.
func taskDivergences(dataset, variant string) (all []taskDivergence) {
	for _, task := range paper.Tasks(dataset, variant) {
		source, target, _ := strings.Cut(task, "-")
		d := taskDivergence{dataset, variant, source, target, math.NaN(), math.NaN()}
		d.jsd = datasets.JSD(trainShares(dataset, source, variant == config.Subsampled), trainShares(dataset, target, false))
		if printed, ok := paper.JSD(dataset, variant, task); ok {
			d.paper = printed
		}
		all = append(all, d)
	}
	return all
}

// divergenceSection has a row a source and a column a target.
func divergenceSection(title string, tasks []taskDivergence) sheet.Section {
	var sources, targets []string
	values := map[[2]string]float64{}
	for _, d := range tasks {
		if !slices.Contains(sources, d.source) {
			sources = append(sources, d.source)
		}
		if !slices.Contains(targets, d.target) {
			targets = append(targets, d.target)
		}
		values[[2]string{d.source, d.target}] = d.jsd
	}
	slices.SortStableFunc(targets, func(a, b string) int { return rank(sources, a) - rank(sources, b) })
	columns := []sheet.Column[string]{word("", "source", displayName)}
	for _, target := range targets {
		columns = append(columns, sheet.Column[string]{
			Head: displayName(target), Format: sheet.Scientific,
			Value: func(source string) sheet.Value {
				if source == target {
					return sheet.Number(0)
				}
				if value, ok := values[[2]string{source, target}]; ok {
					return sheet.Number(value)
				}
				return sheet.Value{}
			},
		})
	}
	return sheet.NewSection(title, columns, sources)
}

// rank is the index of a name in a list, and the list's length if it is not there.
func rank(list []string, name string) int {
	if i := slices.Index(list, name); i >= 0 {
		return i
	}
	return len(list)
}

// trainShares are the class shares of the published training images of a domain of the paper,
// of which the catalogue knows them all. Subsampled, it keeps 30% of each class of the first half.
func trainShares(dataset, domain string, subsampled bool) []float64 {
	data, err := catalogue.Find(dataset)
	if err != nil {
		panic(err)
	}
	described, err := data.Domain(domain)
	if err != nil {
		panic(err)
	}
	shares := make([]float64, len(described.Train))
	for c, n := range described.Train {
		if subsampled && c < len(shares)/2 {
			n = n * 3 / 10 // floor(0.3 n)
		}
		shares[c] = float64(n)
	}
	total := floats.Sum(shares)
	for c := range shares {
		shares[c] /= total
	}
	return shares
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
