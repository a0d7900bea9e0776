package table

import (
	"encoding/json"
	"io"

	"github.com/parquet-go/parquet-go"
)

// parquetGroup is how many rows a group has, all of which are in memory.
const parquetGroup = 1 << 14

// parquetPrediction is a row, parquetProbabilities one with those of all classes.
type (
	parquetPrediction struct {
		ID          string  `parquet:"id"`
		Class       string  `parquet:"predicted_class,dict"`
		Probability float32 `parquet:"probability"`
	}
	parquetProbabilities struct {
		parquetPrediction
		Probabilities []float32 `parquet:"probabilities,list"`
	}
)

// parquetPredictions writes rows of type T.
type parquetPredictions[T any] struct {
	w       *parquet.GenericWriter[T]
	classes []string
	row     func(p parquetPrediction, probabilities []float32) T
	rows    int
}

func newParquetPredictions(w io.Writer, _ string, p Predictions) (predictionWriter, error) {
	names, err := json.Marshal(p.Classes)
	if err != nil {
		return nil, err
	}
	options := []parquet.WriterOption{parquet.Compression(&parquet.Snappy), parquet.KeyValueMetadata(classNamesArray, string(names))}
	if p.Probabilities {
		return &parquetPredictions[parquetProbabilities]{
			w: parquet.NewGenericWriter[parquetProbabilities](w, options...), classes: p.Classes,
			row: func(p parquetPrediction, probabilities []float32) parquetProbabilities {
				return parquetProbabilities{p, probabilities}
			},
		}, nil
	}
	return &parquetPredictions[parquetPrediction]{
		w: parquet.NewGenericWriter[parquetPrediction](w, options...), classes: p.Classes,
		row: func(p parquetPrediction, _ []float32) parquetPrediction { return p },
	}, nil
}

func (p *parquetPredictions[T]) add(id string, class int, probabilities []float32) error {
	row := p.row(parquetPrediction{id, p.classes[class], probabilities[class]}, probabilities)
	if _, err := p.w.Write([]T{row}); err != nil {
		return err
	}
	if p.rows++; p.rows%parquetGroup == 0 {
		return p.w.Flush()
	}
	return nil
}

func (p *parquetPredictions[T]) close() error { return p.w.Close() }
