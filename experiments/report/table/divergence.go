package table

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/report/sheet"
)

// Divergences returns the Jensen-Shannon divergences between the label distributions of
// the paper's tasks, computed from the numbers of training images of each class that
// counts returns for a data set's domain ([PublishedCounts], for one): the paper's three
// tables, each for whole and for subsampled sources, rows sources, columns targets.
func Divergences(counts func(dataset, domain string) ([]int, error)) (sheet.Sheet, error) {
	built := sheet.Sheet{
		Experiment: "jsd",
		Title:      "Jensen-Shannon divergence between the label distributions of source (rows) and target (columns)",
		Caption:    "Jensen-Shannon divergence between label distributions",
		Legend:     "Natural logarithm. Subsampled: the source keeps 30% of the images of each class in the first half of the classes.",
	}
	var all []taskDivergence
	for _, table := range paper.DivergenceTables() {
		for _, variant := range []string{config.Full, config.Subsampled} {
			tasks, err := taskDivergences(table.Datasets, variant, counts)
			if err != nil {
				return sheet.Sheet{}, err
			}
			built.Sections = append(built.Sections, divergenceSection(table.Title+", "+variant, tasks))
			all = append(all, tasks...)
		}
	}
	built.Records = sheet.NewRecords(divergenceColumns, all)
	return built, nil
}

// PublishedCounts returns the published number of training images of each class of a
// data set's domain, and an error where it is not known.
func PublishedCounts(dataset, domain string) ([]int, error) {
	data, err := catalogue.Find(dataset)
	if err != nil {
		return nil, err
	}
	described, err := data.Domain(domain)
	if err == nil && described.Train == nil {
		err = fmt.Errorf("no number of images is known of %s, %s", dataset, domain)
	}
	return described.Train, err
}

// taskDivergence is the divergence of one task.
type taskDivergence struct {
	dataset, variant, source, target string
	jsd, paper                       float64
}

var divergenceColumns = []sheet.Column[taskDivergence]{
	{Name: "dataset", Value: func(d taskDivergence) sheet.Value { return sheet.Word(d.dataset) }},
	{Name: "variant", Value: func(d taskDivergence) sheet.Value { return sheet.Word(d.variant) }},
	{Name: "source", Value: func(d taskDivergence) sheet.Value { return sheet.Word(d.source) }},
	{Name: "target", Value: func(d taskDivergence) sheet.Value { return sheet.Word(d.target) }},
	{Name: "jsd", Value: func(d taskDivergence) sheet.Value { return sheet.Number(d.jsd) }},
	{Name: "paper", Value: func(d taskDivergence) sheet.Value { return sheet.Number(d.paper) }},
}

// taskDivergences are those of the paper's tasks of some data sets.
func taskDivergences(datasets []string, variant string, counts func(string, string) ([]int, error)) ([]taskDivergence, error) {
	var all []taskDivergence
	for _, name := range datasets {
		for _, task := range paper.Tasks(name, variant) {
			source, target, _ := strings.Cut(task, "-")
			value, err := divergence(name, variant, source, target, counts)
			if err != nil {
				return nil, err
			}
			d := taskDivergence{name, variant, source, target, value, math.NaN()}
			if printed, ok := paper.JSD(name, variant, task); ok {
				d.paper = printed
			}
			all = append(all, d)
		}
	}
	return all, nil
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
	columns := []sheet.Column[string]{{
		Head: "source", Key: true, Value: func(source string) sheet.Value { return sheet.Word(displayName(source)) },
	}}
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

// divergence is that between the label distributions of two domains.
func divergence(dataset, variant, source, target string, counts func(string, string) ([]int, error)) (float64, error) {
	var distributions [2][]float64
	for i, domain := range []string{source, target} {
		images, err := counts(dataset, domain)
		if err != nil {
			return 0, err
		}
		if i == 0 && variant == config.Subsampled {
			images = slices.Clone(images)
			for c := range len(images) / 2 {
				images[c] = images[c] * 3 / 10 // floor(0.3 n)
			}
		}
		distributions[i] = shares(images)
	}
	if len(distributions[0]) != len(distributions[1]) {
		return 0, fmt.Errorf("%s: %d classes in %s, %d in %s", dataset, len(distributions[0]), source, len(distributions[1]), target)
	}
	return datasets.JSD(distributions[0], distributions[1]), nil
}

func shares(counts []int) []float64 {
	total := 0
	for _, n := range counts {
		total += n
	}
	shares := make([]float64, len(counts))
	for c, n := range counts {
		shares[c] = float64(n) / float64(total)
	}
	return shares
}
