package store

import (
	"io"
	"math"
	"slices"
	"strconv"

	"iwda/selection"
)

// Evidence is one line of evidence.csv: what an evaluation of a run that holds out source
// rows leaves for choosing among epochs and runs; see [selection.Evidence].
type Evidence struct {
	Epoch, Step int
	selection.Evidence
}

// evidenceColumns are followed by the class, from 0, in the header of evidence.csv.
var evidenceColumns = []string{"loss_", "error_", "share_", "estimated_"}

func evidenceHeader(classes int) []string {
	header := []string{"epoch", "step"}
	for _, column := range evidenceColumns {
		for class := range classes {
			header = append(header, column+strconv.Itoa(class))
		}
	}
	return header
}

// WriteEvidence writes evidence.csv: a header and a line for each element, which are all of
// as many classes, in the manner of WriteMetrics.
func (d Dir) WriteEvidence(evidence []Evidence) error {
	return writeCSV(d.Path(EvidenceFile), evidenceRecords(evidence))
}

// FormatEvidence returns the text that WriteEvidence writes.
func FormatEvidence(evidence []Evidence) string { return formatCSV(evidenceRecords(evidence)) }

func evidenceRecords(evidence []Evidence) [][]string {
	classes := 0
	if len(evidence) > 0 {
		classes = len(evidence[0].Losses)
	}
	records := [][]string{evidenceHeader(classes)}
	for _, e := range evidence {
		record := []string{strconv.Itoa(e.Epoch), strconv.Itoa(e.Step)}
		record = append(record, formatFloats(e.Losses...)...)
		record = append(record, formatFloats(e.Errors...)...)
		record = append(record, formatFloats(e.Shares...)...)
		if e.Estimated == nil {
			record = append(record, make([]string, classes)...)
		}
		records = append(records, append(record, formatFloats(e.Estimated...)...))
	}
	return records
}

// ReadEvidence reads evidence.csv. A wrong header or cell is an error with file, line and
// column; errors.Is(err, fs.ErrNotExist) tells that the run held nothing out.
func (d Dir) ReadEvidence() ([]Evidence, error) {
	return readFile(d.Path(EvidenceFile), ParseEvidence)
}

// ParseEvidence reads the text of an evidence.csv; name stands for it in errors.
func ParseEvidence(name string, text io.Reader) ([]Evidence, error) {
	var evidence []Evidence
	classes := 0
	err := readCSV(name, text, func(row *row) error {
		if row.header {
			classes = (len(row.cells) - 2) / len(evidenceColumns)
			return row.expect(evidenceHeader(max(classes, 0)))
		}
		e := Evidence{Epoch: row.int(), Step: row.int()}
		vector := func() []float64 {
			values := make([]float64, classes)
			for i := range values {
				values[i] = row.float()
			}
			return values
		}
		e.Losses, e.Errors, e.Shares, e.Estimated = vector(), vector(), vector(), vector()
		if slices.ContainsFunc(e.Estimated, math.IsNaN) {
			e.Estimated = nil
		}
		evidence = append(evidence, e)
		return row.err
	})
	return evidence, err
}
