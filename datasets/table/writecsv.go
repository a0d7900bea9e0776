package table

import (
	"encoding/csv"
	"io"
	"strconv"
)

// csvPredictions writes a line a row.
type csvPredictions struct {
	w      *csv.Writer
	what   Predictions
	record []string
	number []byte
}

func newCSVPredictions(w io.Writer, _ string, p Predictions) (predictionWriter, error) {
	c := &csvPredictions{w: csv.NewWriter(w), what: p}
	c.record = append(c.record, "id", "class", "probability")
	if p.Probabilities {
		for _, class := range p.Classes {
			c.record = append(c.record, prefixes[Probabilities]+class)
		}
	}
	return c, c.w.Write(c.record)
}

func (c *csvPredictions) add(id string, class int, probabilities []float32) error {
	c.record = append(c.record[:0], id, c.what.Classes[class], c.text(probabilities[class]))
	if c.what.Probabilities {
		for _, v := range probabilities {
			c.record = append(c.record, c.text(v))
		}
	}
	return c.w.Write(c.record)
}

// text is the shortest text that is read as that number again.
func (c *csvPredictions) text(v float32) string {
	c.number = strconv.AppendFloat(c.number[:0], float64(v), 'g', -1, 32)
	return string(c.number)
}

func (c *csvPredictions) close() error {
	c.w.Flush()
	return c.w.Error()
}
