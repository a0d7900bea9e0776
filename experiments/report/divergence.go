package report

import (
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/report/sheet"
)

// Divergences returns the Jensen-Shannon divergences between the label distributions of
// the paper's tasks, computed from the published numbers of training images of each class, beside
// those of the paper's three tables.
func Divergences() sheet.Sheet {
	built := sheet.Sheet{
		Experiment: "jsd",
		Title:      "Jensen-Shannon divergence between the label distributions of source and target",
		Legend:     "Natural logarithm. subsampled: the source keeps 30% of the images of each class in the first half of the classes.",
	}
	var all []taskDivergence
	for _, dataset := range []string{"digits", "visda", "office31", "officehome"} {
		var tasks []taskDivergence
		for _, variant := range []string{config.Full, config.Subsampled} {
			tasks = append(tasks, taskDivergences(dataset, variant)...)
		}
		built.Sections = append(built.Sections, sheet.NewSection(dataset, divergenceColumns, tasks))
		all = append(all, tasks...)
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
	word("variant", "variant", func(d taskDivergence) string { return d.variant }),
	word("source", "source", func(d taskDivergence) string { return d.source }),
	word("target", "target", func(d taskDivergence) string { return d.target }),
	number("jsd", "JSD", sheet.Scientific, func(d taskDivergence) float64 { return d.jsd }),
	number("paper", "paper", sheet.Scientific, func(d taskDivergence) float64 { return d.paper }),
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
