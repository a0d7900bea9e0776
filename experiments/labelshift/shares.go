package labelshift

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// UniformShares returns equal shares of k classes.
func UniformShares(k int) []float64 { return slices.Repeat([]float64{1 / float64(k)}, k) }

// ReadShares reads the shares of the classes from a CSV file: lines of a class's name and
// its share or count, below the heads class and share. Every class has to be there once.
func ReadShares(path string, classes []string) ([]float64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.FieldsPerRecord = 2
	r.TrimLeadingSpace = true
	records, err := r.ReadAll()
	if err == nil && (len(records) == 0 || records[0][0] != "class" || records[0][1] != "share") {
		err = errors.New("the first line must be class,share")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	shares := make([]float64, len(classes))
	for i, record := range records[1:] {
		line := i + 2
		class := slices.Index(classes, record[0])
		if class < 0 {
			return nil, fmt.Errorf("%s:%d: %q is no class of the source", path, line, record[0])
		}
		if shares[class] != 0 {
			return nil, fmt.Errorf("%s:%d: class %q again", path, line, record[0])
		}
		share, err := strconv.ParseFloat(record[1], 64)
		if err != nil || !(share > 0) {
			return nil, fmt.Errorf("%s:%d: the share of class %q is %q; it must be a positive number", path, line, record[0], record[1])
		}
		shares[class] = share
	}
	if class := slices.Index(shares, 0); class >= 0 {
		return nil, fmt.Errorf("%s: no share of class %q", path, classes[class])
	}
	return shares, nil
}
