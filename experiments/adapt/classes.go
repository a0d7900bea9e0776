package adapt

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"iwda/internal/wholefile"
)

// ClassShare is what is known of a class.
type ClassShare struct {
	Class          string
	Source, Target float64 // its shares of the source's rows and, estimated, of the target's
}

// Weight is the target's share over the source's, 0 for a class that neither has.
func (c ClassShare) Weight() float64 {
	if c.Target == 0 {
		return 0
	}
	return c.Target / c.Source
}

// classShares puts the shares of both domains beside each other.
func classShares(classes []string, source, target []float64) ([]ClassShare, error) {
	if len(source) != len(classes) || len(target) != len(classes) {
		return nil, fmt.Errorf("%d classes, but shares of %d in the source and of %d in the target", len(classes), len(source), len(target))
	}
	shares := make([]ClassShare, len(classes))
	for i, class := range classes {
		shares[i] = ClassShare{class, source[i], target[i]}
	}
	return shares, nil
}

// writeClasses writes a line a class: class,source,target,weight.
func writeClasses(path string, shares []ClassShare) error {
	records := [][]string{{"class", "source_share", "estimated_target_share", "weight"}}
	for _, s := range shares {
		record := []string{s.Class}
		for _, v := range []float64{s.Source, s.Target, s.Weight()} {
			record = append(record, strconv.FormatFloat(v, 'f', 6, 64))
		}
		records = append(records, record)
	}
	return wholefile.Write(path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(records) })
}
