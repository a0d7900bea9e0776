package store

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"iwda/internal/convert"
	"iwda/internal/input"
)

// Lines is a kind of CSV file, a header and a line for each R. Numbers read back exactly;
// NaN and what was not measured are empty cells.
type Lines[R any] struct {
	// columns are in their order, by the number of classes.
	columns func(classes int) []column[R]
	// Of columns of a value a class, prefix is that of the names of the first ones, and
	// classes their number in a line.
	prefix  string
	classes func(R) int
}

// column is one of a CSV file.
type column[R any] struct {
	name string
	// cell returns where the value of a line is: an *int, a *float64, a *string or an
	// *Optional[float64].
	cell func(*R) any
	// optional tells that the column is there only if some line has a value of it.
	optional bool
}

// MetricsLines are those of metrics.csv.
var MetricsLines = Lines[Metrics]{columns: func(int) []column[Metrics] {
	columns := []column[Metrics]{
		{name: "epoch", cell: func(m *Metrics) any { return &m.Epoch }},
		{name: "step", cell: func(m *Metrics) any { return &m.Step }},
		{name: "accuracy", cell: func(m *Metrics) any { return &m.Accuracy }},
		{name: "mean_class_accuracy", cell: func(m *Metrics) any { return &m.MeanClassAccuracy }},
		{name: "classification_loss", cell: func(m *Metrics) any { return &m.ClassificationLoss }},
		{name: "domain_loss", cell: func(m *Metrics) any { return &m.DomainLoss }},
		{name: "total_loss", cell: func(m *Metrics) any { return &m.TotalLoss }},
		{name: "weight_distance", cell: func(m *Metrics) any { return &m.WeightDistance }},
		{name: "learning_rate", cell: func(m *Metrics) any { return &m.LearningRate }},
		{name: "seconds", cell: func(m *Metrics) any { return &m.Seconds }},
		{"validation_accuracy", func(m *Metrics) any { return &m.ValidationAccuracy }, true},
		{"validation_loss", func(m *Metrics) any { return &m.ValidationLoss }, true},
		{"certainty", func(m *Metrics) any { return &m.Certainty }, true},
		{"feature_norm", func(m *Metrics) any { return &m.FeatureNorm }, true},
		{"logit_norm", func(m *Metrics) any { return &m.LogitNorm }, true},
		{"network_gradient", func(m *Metrics) any { return &m.NetworkGradient }, true},
		{"discriminator_gradient", func(m *Metrics) any { return &m.DiscriminatorGradient }, true},
		{"discriminator_accuracy", func(m *Metrics) any { return &m.DiscriminatorAccuracy }, true},
		{"largest_weight", func(m *Metrics) any { return &m.LargestWeight }, true},
		{"effective_sample_size", func(m *Metrics) any { return &m.EffectiveSampleSize }, true},
	}
	for _, name := range former {
		columns = append(columns, column[Metrics]{name, func(*Metrics) any { return new(string) }, true})
	}
	return columns
}}

// former are columns that 0.4 and earlier wrote: criteria, which nothing read.
var former = []string{"source_accuracy_macro", "unexplained", "entropy", "im", "bnm", "mcc"}

// WeightsLines are those of weights.csv.
var WeightsLines = Lines[WeightUpdate]{
	columns: func(classes int) []column[WeightUpdate] {
		columns := []column[WeightUpdate]{
			{name: "epoch", cell: func(u *WeightUpdate) any { return &u.Epoch }},
			{name: "step", cell: func(u *WeightUpdate) any { return &u.Step }},
			{"source", func(u *WeightUpdate) any { return &u.Source }, true},
		}
		for class := range classes {
			columns = append(columns, column[WeightUpdate]{name: weightColumn + strconv.Itoa(class), cell: func(u *WeightUpdate) any {
				if u.Weights == nil { // of a line that is read
					u.Weights = make([]float64, classes)
				}
				return &u.Weights[class]
			}})
		}
		return append(columns, []column[WeightUpdate]{
			{name: "distance", cell: func(u *WeightUpdate) any { return &u.Distance }},
			{name: "smallest_singular", cell: func(u *WeightUpdate) any { return &u.SmallestSingular }},
			{name: "effective_sample_size", cell: func(u *WeightUpdate) any { return &u.EffectiveSampleSize }},
			{name: "note", cell: func(u *WeightUpdate) any { return &u.Note }},
		}...)
	},
	prefix: weightColumn, classes: func(u WeightUpdate) int { return len(u.Weights) },
}

const weightColumn = "weight_"

// WriteMetrics writes metrics.csv: a header and a line for each element.
func (d Dir) WriteMetrics(metrics []Metrics) error {
	return d.disk.WriteText(d.Path(MetricsFile), MetricsLines.Format(metrics))
}

// ReadMetrics reads metrics.csv. A wrong header or cell is an error with file,
// line and column.
func (d Dir) ReadMetrics() ([]Metrics, error) { return MetricsLines.read(d.Path(MetricsFile)) }

// WriteWeights writes weights.csv: a header and a line for each element. All have weights of as many
// classes.
func (d Dir) WriteWeights(updates []WeightUpdate) error {
	return d.disk.WriteText(d.Path(WeightsFile), WeightsLines.Format(updates))
}

// ReadWeights reads weights.csv. A wrong header or cell is an error with file,
// line and column.
func (d Dir) ReadWeights() ([]WeightUpdate, error) { return WeightsLines.read(d.Path(WeightsFile)) }

// records returns the header and the cells of every line.
func (l Lines[R]) records(rows []R) [][]string {
	classes := 0
	if l.classes != nil && len(rows) > 0 {
		classes = l.classes(rows[0])
	}
	columns := slices.DeleteFunc(l.columns(classes), func(c column[R]) bool {
		empty := c.optional
		for i := 0; empty && i < len(rows); i++ {
			empty = !measured(c.cell(&rows[i]))
		}
		return empty
	})
	records := [][]string{namesOf(columns)}
	for _, r := range rows {
		var record []string
		for _, c := range columns {
			record = append(record, formatCell(c.cell(&r)))
		}
		records = append(records, record)
	}
	return records
}

func namesOf[R any](columns []column[R]) []string {
	return convert.Each(columns, func(c column[R]) string { return c.name })
}

// Format returns the text of a file with a line for each row.
func (l Lines[R]) Format(rows []R) string {
	var text strings.Builder
	csv.NewWriter(&text).WriteAll(l.records(rows)) // a Builder takes everything
	return text.String()
}

func (l Lines[R]) read(path string) ([]R, error) {
	file, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return l.Parse(path, file)
}

// Parse reads the lines of a text, whose errors begin with its name. All lines have as many
// cells as the first.
func (l Lines[R]) Parse(name string, text io.Reader) (rows []R, err error) {
	var columns []column[R]
	reader := csv.NewReader(text)
	for first := true; ; first = false {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) && first {
			return nil, fmt.Errorf("%s: the file is empty, not even a header is there", name)
		}
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if damage := (*csv.ParseError)(nil); errors.As(err, &damage) {
			return rows, fmt.Errorf("%s:%d:%d: %w", name, damage.Line, damage.Column, damage.Err)
		}
		if err != nil {
			return rows, fmt.Errorf("%s: %w", name, err)
		}
		if first {
			columns, err = l.columnsOf(cells)
		} else {
			var r R
			r, err = parseLine(cells, columns)
			rows = append(rows, r)
		}
		if err != nil {
			line, _ := reader.FieldPos(0)
			return rows, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
}

// columnsOf returns the columns of a file with that header.
func (l Lines[R]) columnsOf(header []string) ([]column[R], error) {
	classes := 0
	for _, name := range header {
		if l.prefix != "" && strings.HasPrefix(name, l.prefix) {
			classes++
		}
	}
	columns := slices.DeleteFunc(l.columns(classes), func(c column[R]) bool { return c.optional && !slices.Contains(header, c.name) })
	if names := namesOf(columns); !slices.Equal(header, names) {
		return nil, fmt.Errorf("the header is %.500q, want %.500q", strings.Join(header, ","), strings.Join(names, ","))
	}
	return columns, nil
}

func parseLine[R any](cells []string, columns []column[R]) (r R, err error) {
	for i, c := range columns {
		if want := parseCell(cells[i], c.cell(&r)); want != "" {
			return r, fmt.Errorf("column %d is %.100q, want %s", i+1, cells[i], want)
		}
	}
	return r, nil
}

// measured reports whether a cell of an optional column has a value.
func measured(cell any) bool {
	if text, is := cell.(*string); is {
		return *text != ""
	}
	return cell.(*Optional[float64]).Measured
}

// formatCell returns the shortest text that reads back as the same value.
func formatCell(cell any) string {
	var number float64
	switch c := cell.(type) {
	case *int:
		return strconv.Itoa(*c)
	case *string:
		return *c
	case *float64:
		number = *c
	case *Optional[float64]:
		number = c.OrNaN()
	}
	if math.IsNaN(number) {
		return ""
	}
	return strconv.FormatFloat(number, 'g', -1, 64)
}

// parseCell reads a value, or returns what the text should be.
func parseCell(text string, cell any) (want string) {
	var err error
	switch c := cell.(type) {
	case *int:
		if *c, err = strconv.Atoi(text); err != nil {
			return "a whole number"
		}
	case *string:
		*c = text
	case *float64:
		if *c = math.NaN(); text == "" {
			return ""
		}
		if *c, err = strconv.ParseFloat(text, 64); err != nil {
			return "a number"
		}
	case *Optional[float64]:
		if want = parseCell(text, &c.Value); math.IsNaN(c.Value) {
			*c = Optional[float64]{}
		} else {
			c.Measured = true
		}
	}
	return want
}
