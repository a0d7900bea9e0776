package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/experiments/paper"
)

// DivergenceSheet returns the Jensen-Shannon divergences between the label
// distributions of the paper's tasks, computed from the numbers of training images of
// each class that counts returns for a data set's domain ([PublishedCounts], for one):
// the paper's three tables, each for whole and for subsampled sources, rows sources,
// columns targets.
func DivergenceSheet(counts func(dataset, domain string) ([]int, error)) (Sheet, error) {
	sheet := Sheet{
		Experiment: "jsd",
		Title:      "Jensen-Shannon divergence between the label distributions of source (rows) and target (columns)",
		Legend:     "Natural logarithm. Subsampled: the source keeps 30% of the images of each class in the first half of the classes.",
		Records:    Records{Fields: []string{"dataset", "variant", "source", "target", "jsd", "paper"}},
	}
	for _, table := range paper.DivergenceTables() {
		for _, variant := range []string{config.Full, config.Subsampled} {
			section, err := sheet.divergences(table.Datasets, variant, counts)
			if err != nil {
				return Sheet{}, err
			}
			section.Title = table.Title + ", " + variant
			sheet.Sections = append(sheet.Sections, section)
			tabular := section.tabular("Jensen-Shannon divergence between label distributions")
			for i, line := range tabular.Lines {
				tabular.Lines[i] = scientific.ReplaceAllString(line, `$$$1\mathrm{e}{$2}$$`)
			}
			sheet.Tabulars = append(sheet.Tabulars, tabular)
		}
	}
	return sheet, nil
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

// scientific fits a number as threeDigits prints it.
var scientific = regexp.MustCompile(`\b([0-9]\.[0-9]{2})e(-[0-9]+)`)

// divergences fills a section and the records with one table's numbers.
func (sheet *Sheet) divergences(names []string, variant string, counts func(string, string) ([]int, error)) (Section, error) {
	section := Section{Header: []string{"source"}, Names: 1}
	var sources, targets []string
	values := map[string]float64{}
	for _, name := range names {
		for _, task := range paper.Tasks(name, variant) {
			source, target, _ := strings.Cut(task, "-")
			value, err := divergence(name, variant, source, target, counts)
			if err != nil {
				return Section{}, err
			}
			if !slices.Contains(sources, source) {
				sources = append(sources, source)
			}
			if !slices.Contains(targets, target) {
				targets = append(targets, target)
			}
			values[task] = value
			printed, ok := paper.JSD(name, variant, task)
			sheet.Records.Rows = append(sheet.Records.Rows, []any{name, variant, source, target, value, orNaN(printed, ok)})
		}
	}
	slices.SortStableFunc(targets, func(a, b string) int { return rank(sources, a) - rank(sources, b) })
	for _, target := range targets {
		section.Header = append(section.Header, displayName(target))
	}
	for _, source := range sources {
		row := []Cell{word(displayName(source))}
		for _, target := range targets {
			value, ok := values[source+"-"+target]
			switch {
			case source == target:
				row = append(row, Cell{"0", 0})
			case !ok:
				row = append(row, word(none))
			default:
				row = append(row, Cell{threeDigits(value), value})
			}
		}
		section.Rows = append(section.Rows, row)
	}
	return section, nil
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

// threeDigits prints three significant digits as the paper does: 6.64e-3.
func threeDigits(value float64) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(value, 'e', 2, 64), "e")
	power, err := strconv.Atoi(exponent)
	if err != nil || math.IsNaN(value) {
		return none
	}
	return fmt.Sprintf("%se%d", mantissa, power)
}
