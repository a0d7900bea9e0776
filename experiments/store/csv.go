package store

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"iwda/internal/wholefile"
	"iwda/selection"
)

// metricsHeader names the columns of every metrics.csv, in the order of Metrics.
var metricsHeader = []string{
	"epoch", "step", "accuracy", "mean_class_accuracy",
	"classification_loss", "domain_loss", "total_loss",
	"weight_distance", "learning_rate", "seconds",
}

// optionalMetric is a column that follows where some line has a value of it.
type optionalMetric struct {
	name string
	get  func(Metrics) Optional[float64]
	set  func(*Metrics, Optional[float64])
}

// optionalMetrics are in the order of their columns.
var optionalMetrics = append([]optionalMetric{
	plainMetric("validation_accuracy", func(m *Metrics) *Optional[float64] { return &m.ValidationAccuracy }),
	plainMetric("validation_loss", func(m *Metrics) *Optional[float64] { return &m.ValidationLoss }),
	plainMetric("certainty", func(m *Metrics) *Optional[float64] { return &m.Certainty }),
	plainMetric("feature_norm", func(m *Metrics) *Optional[float64] { return &m.FeatureNorm }),
	plainMetric("logit_norm", func(m *Metrics) *Optional[float64] { return &m.LogitNorm }),
	plainMetric("network_gradient", func(m *Metrics) *Optional[float64] { return &m.NetworkGradient }),
	plainMetric("discriminator_gradient", func(m *Metrics) *Optional[float64] { return &m.DiscriminatorGradient }),
	plainMetric("discriminator_accuracy", func(m *Metrics) *Optional[float64] { return &m.DiscriminatorAccuracy }),
	plainMetric("largest_weight", func(m *Metrics) *Optional[float64] { return &m.LargestWeight }),
	plainMetric("effective_sample_size", func(m *Metrics) *Optional[float64] { return &m.EffectiveSampleSize }),
	plainMetric(labelShiftColumn, func(m *Metrics) *Optional[float64] { return &m.LabelShiftP }),
}, criterionMetrics()...)

// formerCriteria are columns that follow those of optionalMetrics in files of former versions,
// and are passed over.
var formerCriteria = []string{"snd", "iwcv", "dev", "class_ami", "transfer_score"}

func plainMetric(name string, field func(*Metrics) *Optional[float64]) optionalMetric {
	return optionalMetric{
		name: name,
		get:  func(m Metrics) Optional[float64] { return *field(&m) },
		set:  func(m *Metrics, value Optional[float64]) { *field(m) = value },
	}
}

// criterionMetrics are those of the criteria of package selection, with an underscore for
// each hyphen of their names.
func criterionMetrics() (metrics []optionalMetric) {
	for _, name := range selection.Names() {
		metrics = append(metrics, optionalMetric{
			name: strings.ReplaceAll(name, "-", "_"),
			get: func(m Metrics) Optional[float64] {
				value, measured := m.Criteria[name]
				return Optional[float64]{Value: value, Measured: measured}
			},
			set: func(m *Metrics, value Optional[float64]) {
				if value.Measured && m.Criteria == nil {
					m.Criteria = map[string]float64{}
				}
				if value.Measured {
					m.Criteria[name] = value.Value
				}
			},
		})
	}
	return metrics
}

// The columns of weights.csv are weightsBefore, one weight_<class> a class, and
// weightsAfter.
var (
	weightsBefore = []string{"epoch", "step"}
	weightsAfter  = []string{"distance", "smallest_singular", "effective_sample_size", "note"}
)

// labelShiftColumn is the last column of weights.csv, and one of metrics.csv, where some
// line has a value of it.
const labelShiftColumn = "label_shift_p"

// weightColumn is followed by the class, from 0, in the header of weights.csv.
const weightColumn = "weight_"

// WriteMetrics writes metrics.csv: a header and a line for each element. Numbers
// read back exactly; NaN and what was not measured are empty cells.
func (d Dir) WriteMetrics(metrics []Metrics) error {
	return writeCSV(d.Path(MetricsFile), metricsRecords(metrics))
}

// FormatMetrics returns the text that WriteMetrics writes.
func FormatMetrics(metrics []Metrics) string { return formatCSV(metricsRecords(metrics)) }

func metricsRecords(metrics []Metrics) [][]string {
	records := [][]string{slices.Clone(metricsHeader)}
	for _, m := range metrics {
		records = append(records, append([]string{strconv.Itoa(m.Epoch), strconv.Itoa(m.Step)},
			formatFloats(m.Accuracy.OrNaN(), m.MeanClassAccuracy.OrNaN(), m.ClassificationLoss, m.DomainLoss, m.TotalLoss,
				m.WeightDistance, m.LearningRate, m.Seconds)...))
	}
	for _, column := range optionalMetrics {
		if !slices.ContainsFunc(metrics, func(m Metrics) bool { return column.get(m).Measured }) {
			continue
		}
		records[0] = append(records[0], column.name)
		for i, m := range metrics {
			records[i+1] = append(records[i+1], formatFloats(column.get(m).OrNaN())...)
		}
	}
	return records
}

// ReadMetrics reads metrics.csv. A wrong header or cell is an error with file,
// line and column.
func (d Dir) ReadMetrics() ([]Metrics, error) {
	return readFile(d.Path(MetricsFile), ParseMetrics)
}

// ParseMetrics reads the text of a metrics.csv; name stands for it in errors.
func ParseMetrics(name string, text io.Reader) ([]Metrics, error) {
	var metrics []Metrics
	var optional []optionalMetric
	err := readCSV(name, text, func(row *row) error {
		if row.header {
			header := slices.Clone(metricsHeader)
			for _, column := range optionalMetrics {
				if slices.Contains(row.cells, column.name) {
					header, optional = append(header, column.name), append(optional, column)
				}
			}
			for _, name := range formerCriteria {
				if slices.Contains(row.cells, name) {
					header = append(header, name)
				}
			}
			return row.expect(header)
		}
		m := Metrics{Epoch: row.int(), Step: row.int(), Accuracy: row.optional(), MeanClassAccuracy: row.optional()}
		for _, field := range []*float64{&m.ClassificationLoss, &m.DomainLoss, &m.TotalLoss,
			&m.WeightDistance, &m.LearningRate, &m.Seconds} {
			*field = row.float()
		}
		for _, column := range optional {
			column.set(&m, row.optional())
		}
		metrics = append(metrics, m)
		return row.err
	})
	return metrics, err
}

// WriteWeights writes weights.csv: a header and a line for each element, in the
// manner of WriteMetrics. It panics if the updates differ in their number of
// classes.
func (d Dir) WriteWeights(updates []WeightUpdate) error {
	return writeCSV(d.Path(WeightsFile), weightsRecords(updates))
}

// FormatWeights returns the text that WriteWeights writes, and panics as it does.
func FormatWeights(updates []WeightUpdate) string { return formatCSV(weightsRecords(updates)) }

func weightsRecords(updates []WeightUpdate) [][]string {
	classes := 0
	if len(updates) > 0 {
		classes = len(updates[0].Weights)
	}
	tested := slices.ContainsFunc(updates, func(u WeightUpdate) bool { return u.LabelShiftP.Measured })
	records := [][]string{weightsHeader(classes, tested)}
	for i, u := range updates {
		if len(u.Weights) != classes {
			panic(fmt.Sprintf("store: weight update %d has %d classes, the first has %d", i, len(u.Weights), classes))
		}
		record := []string{strconv.Itoa(u.Epoch), strconv.Itoa(u.Step)}
		record = append(record, formatFloats(u.Weights...)...)
		record = append(record, formatFloats(u.Distance, u.SmallestSingular, u.EffectiveSampleSize)...)
		record = append(record, u.Note)
		if tested {
			record = append(record, formatFloats(u.LabelShiftP.OrNaN())...)
		}
		records = append(records, record)
	}
	return records
}

// ReadWeights reads weights.csv. A wrong header or cell is an error with file,
// line and column.
func (d Dir) ReadWeights() ([]WeightUpdate, error) {
	return readFile(d.Path(WeightsFile), ParseWeights)
}

// ParseWeights reads the text of a weights.csv; name stands for it in errors.
func ParseWeights(name string, text io.Reader) ([]WeightUpdate, error) {
	var updates []WeightUpdate
	classes, tested := 0, false
	err := readCSV(name, text, func(row *row) error {
		if row.header {
			tested = slices.Contains(row.cells, labelShiftColumn)
			for _, name := range row.cells {
				if strings.HasPrefix(name, weightColumn) {
					classes++
				}
			}
			return row.expect(weightsHeader(classes, tested))
		}
		u := WeightUpdate{Epoch: row.int(), Step: row.int(), Weights: make([]float64, classes)}
		for i := range u.Weights {
			u.Weights[i] = row.float()
		}
		u.Distance, u.SmallestSingular, u.EffectiveSampleSize = row.float(), row.float(), row.float()
		u.Note = row.string()
		if tested {
			u.LabelShiftP = row.optional()
		}
		updates = append(updates, u)
		return row.err
	})
	return updates, err
}

func weightsHeader(classes int, tested bool) []string {
	header := slices.Clone(weightsBefore)
	for i := range classes {
		header = append(header, weightColumn+strconv.Itoa(i))
	}
	header = append(header, weightsAfter...)
	if tested {
		header = append(header, labelShiftColumn)
	}
	return header
}

// formatFloats returns the shortest texts that read back as the same values.
func formatFloats(values ...float64) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		if !math.IsNaN(value) {
			texts[i] = strconv.FormatFloat(value, 'g', -1, 64)
		}
	}
	return texts
}

func writeCSV(path string, records [][]string) error {
	return wholefile.Write(path, func(w io.Writer) error {
		return csv.NewWriter(w).WriteAll(records)
	})
}

func formatCSV(records [][]string) string {
	var text strings.Builder
	csv.NewWriter(&text).WriteAll(records) // a Builder takes everything
	return text.String()
}

func readFile[T any](path string, parse func(string, io.Reader) (T, error)) (T, error) {
	file, err := os.Open(path)
	if err != nil {
		return *new(T), err
	}
	defer file.Close()
	return parse(path, file)
}

// readCSV calls read with every row of the text, the header included, and puts
// its name before its errors. All rows have as many cells as the first.
func readCSV(path string, text io.Reader, read func(*row) error) error {
	reader := csv.NewReader(text)
	for number := 1; ; number++ {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) && number == 1 {
			return fmt.Errorf("%s: the file is empty, not even a header is there", path)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if damage := (*csv.ParseError)(nil); errors.As(err, &damage) {
			return fmt.Errorf("%s:%d:%d: %w", path, damage.Line, damage.Column, damage.Err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		line, _ := reader.FieldPos(0)
		if err := read(&row{header: number == 1, cells: cells}); err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
}

// row hands out the cells of a line from left to right and remembers the first
// that is wrong.
type row struct {
	header bool // the first row
	cells  []string
	next   int
	err    error
}

func (r *row) expect(header []string) error {
	if !slices.Equal(r.cells, header) {
		return fmt.Errorf("the header is %.500q, want %.500q", strings.Join(r.cells, ","), strings.Join(header, ","))
	}
	return nil
}

func (r *row) string() string {
	r.next++
	return r.cells[r.next-1]
}

func (r *row) int() int {
	text := r.string()
	value, err := strconv.Atoi(text)
	if err != nil {
		r.fail(text, "a whole number")
	}
	return value
}

func (r *row) float() float64 {
	text := r.string()
	if text == "" {
		return math.NaN()
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.fail(text, "a number")
	}
	return value
}

func (r *row) optional() Optional[float64] {
	if value := r.float(); !math.IsNaN(value) {
		return Measured(value)
	}
	return Optional[float64]{}
}

func (r *row) fail(text, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("column %d is %.100q, want %s", r.next, text, want)
	}
}
