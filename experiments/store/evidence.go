package store

import (
	"io"
	"math"
	"slices"

	"iwda/selection"
)

// Evidence is one line of evidence.csv: what an evaluation of a run that holds out source
// rows leaves for choosing among epochs and runs; see [selection.Evidence].
type Evidence struct {
	Epoch, Step int
	selection.Evidence
}

var evidenceLines = lines[Evidence]{
	columns: func(classes int) []column[Evidence] {
		return slices.Concat(
			[]column[Evidence]{
				{name: "epoch", cell: func(e *Evidence) any { return &e.Epoch }},
				{name: "step", cell: func(e *Evidence) any { return &e.Step }},
			},
			vectorColumns("loss_", classes, func(e *Evidence) *[]float64 { return &e.Losses }),
			vectorColumns("error_", classes, func(e *Evidence) *[]float64 { return &e.Errors }),
			vectorColumns("share_", classes, func(e *Evidence) *[]float64 { return &e.Shares }),
			vectorColumns("estimated_", classes, func(e *Evidence) *[]float64 { return &e.Estimated }))
	},
	prefix: "loss_", classes: func(e Evidence) int { return len(e.Losses) },
}

// WriteEvidence writes evidence.csv: a header and a line for each element, in the manner of
// WriteMetrics. It panics if they differ in their number of classes.
func (d Dir) WriteEvidence(evidence []Evidence) error {
	return evidenceLines.write(d.Path(EvidenceFile), evidence)
}

// FormatEvidence returns the text that WriteEvidence writes.
func FormatEvidence(evidence []Evidence) string { return evidenceLines.format(evidence) }

// ReadEvidence reads evidence.csv. A wrong header or cell is an error with file, line and
// column; errors.Is(err, fs.ErrNotExist) tells that the run held nothing out.
func (d Dir) ReadEvidence() ([]Evidence, error) {
	evidence, err := evidenceLines.read(d.Path(EvidenceFile))
	return whole(evidence), err
}

// ParseEvidence reads the text of an evidence.csv; name stands for it in errors.
func ParseEvidence(name string, text io.Reader) ([]Evidence, error) {
	evidence, err := evidenceLines.parse(name, text)
	return whole(evidence), err
}

// whole takes estimates away of which a class is missing.
func whole(evidence []Evidence) []Evidence {
	for i := range evidence {
		if slices.ContainsFunc(evidence[i].Estimated, math.IsNaN) {
			evidence[i].Estimated = nil
		}
	}
	return evidence
}
