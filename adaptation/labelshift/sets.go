package labelshift

import (
	"fmt"
	"math"
	"slices"

	"iwda/experiments/report/sheet"
	"iwda/inference/sets"
	"iwda/internal/printable"
)

// Sets are the sets of classes of the target's rows by package sets, from what the classifier itself says:
// neither calibration nor shares, which are fitted, have a part in them.
type Sets struct {
	Level      float64
	Thresholds sets.Thresholds // k
	Sizes      []int           // k + 1: numbers of target rows whose set has 0, 1, … classes
	// Everywhere are the classes that have too few held-out rows, or groups of them, for the level: they
	// are in every set.
	Everywhere []string
}

// findSets sets the analysis's Sets if the settings want them.
func (a *Analysis) findSets(source, target *Predictions) error {
	if a.Settings.Sets == 0 {
		return nil
	}
	k := len(a.Classes)
	heldOut, err := source.Probabilities()
	if err != nil {
		return err
	}
	thresholds, err := sets.Fit(k, heldOut, source.labels, source.groups, a.Settings.Sets)
	if err != nil {
		return fmt.Errorf("%s: %w", source.Name, err)
	}
	a.Sets = &Sets{Level: a.Settings.Sets, Thresholds: thresholds, Sizes: make([]int, k+1)}
	for class, threshold := range thresholds {
		if threshold == 0 {
			a.Sets.Everywhere = append(a.Sets.Everywhere, a.Classes[class])
		}
	}
	some := *target
	for rows := range slices.Chunk(target.values, batchRows*k) {
		some.values = rows
		found, err := a.Sets.of(&some)
		if err != nil {
			return err
		}
		for _, set := range found {
			a.Sets.Sizes[len(set)]++
		}
	}
	return nil
}

// of returns the set of each row of the predictions; nil for each without sets.
func (s *Sets) of(p *Predictions) ([][]int, error) {
	all := make([][]int, p.Rows())
	if s == nil {
		return all, nil
	}
	probabilities, err := p.Probabilities()
	if err != nil {
		return nil, err
	}
	k := len(s.Thresholds)
	for row := range all {
		all[row] = s.Thresholds.Of(probabilities[row*k : (row+1)*k])
	}
	return all, nil
}

// notes say what holds of the sets, sentences.
func (s *Sets) notes() []string {
	notes := []string{"Sets hold whatever the class shares are, if rows of a class are as in the source, and if the classifier has not seen the target. --corrected FILE writes each row's set."}
	if s.Everywhere != nil {
		notes = append(notes, fmt.Sprintf("These classes are in every set, because %.0f held-out rows of a class, or groups of them, are needed: %s.",
			math.Ceil(1/(1-s.Level)-1-1e-9), printable.FirstTen(s.Everywhere)))
	}
	return notes
}

// section is the table of how large sets are.
func (s *Sets) section() sheet.Section {
	type line struct {
		classes string
		rows    int
	}
	lines := []line{{"none: unlike the source's rows of every class", s.Sizes[0]}, {"one", s.Sizes[1]}}
	more := line{classes: "several"}
	rows := s.Sizes[0] + s.Sizes[1]
	for _, n := range s.Sizes[2:] {
		more.rows += n
		rows += n
	}
	return sheet.NewSection(fmt.Sprintf("Sets that have a row's class with probability %v, in each class", s.Level), []sheet.Column[line]{
		{Head: "classes in the set", Key: true, Value: func(l line) sheet.Value { return sheet.Word(l.classes) }},
		{Head: "rows", Value: func(l line) sheet.Value { return sheet.Count(l.rows) }},
		{Head: "percent", Format: sheet.Printf("%.1f"), Value: func(l line) sheet.Value { return sheet.Percent(100 * float64(l.rows) / float64(rows)) }},
	}, append(lines, more))
}
