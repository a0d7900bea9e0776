package table

import (
	"encoding/json"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// A group of rows is in memory until it is written: so many rows of it, and so many values. Rows with so
// many values together are handed over at once, which takes half the time that it takes one by one.
const (
	parquetGroup  = 1 << 14
	parquetValues = 1 << 21
	parquetBatch  = 1 << 10
)

// parquetRows writes rows into columns.
type parquetRows struct {
	w      *parquet.GenericWriter[any]
	fields []Field
	batch  []parquet.Row // that are handed over at once
	text   []byte        // of their cells
	rows   int           // of the group, without the batch
	most   int           // rows of a group
}

// inOrder is a group of columns in an order of its own.
type inOrder struct {
	parquet.Group
	fields []parquet.Field
}

// Fields implements parquet.Node.
func (o inOrder) Fields() []parquet.Field { return o.fields }

func newParquetRows(w io.Writer, fields []Field) (rowWriter, error) {
	group, places, width := parquet.Group{}, map[string]int{}, 0
	options := []parquet.WriterOption{parquet.Compression(&parquet.Snappy)}
	for i, f := range fields {
		places[f.Name] = i
		width += max(1, len(f.Classes))
		switch f.Kind {
		case TextField:
			group[f.Name] = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
			if i == 0 { // ids, which differ
				group[f.Name] = parquet.String()
			}
		case ClassesField:
			group[f.Name] = parquet.List(parquet.Leaf(parquet.DoubleType))
			names, err := json.Marshal(f.Classes)
			if err != nil {
				return nil, err
			}
			options = append(options, parquet.KeyValueMetadata(classNamesArray, string(names)))
		default:
			group[f.Name] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
		}
	}
	ordered := inOrder{group, group.Fields()}
	slices.SortFunc(ordered.fields, func(a, b parquet.Field) int { return places[a.Name()] - places[b.Name()] })
	options = append(options, parquet.NewSchema("rows", ordered))
	most := min(parquetGroup, max(1, parquetValues/width))
	batch := make([]parquet.Row, 0, max(1, parquetBatch/width))
	return &parquetRows{w: parquet.NewGenericWriter[any](w, options...), fields: fields, batch: batch, most: most}, nil
}

func (p *parquetRows) add(cells []Cell) error {
	n := len(p.batch)
	p.batch = p.batch[:n+1]
	row := p.batch[n][:0]
	for i, cell := range cells {
		switch {
		case p.fields[i].Kind == TextField:
			start := len(p.text)
			p.text = append(p.text, cell.Text...)
			row = append(row, parquet.ByteArrayValue(p.text[start:]).Level(0, 0, i))
		case p.fields[i].Kind == ClassesField:
			for j, v := range cell.Numbers {
				row = append(row, parquet.DoubleValue(float64(v)).Level(min(j, 1), 1, i))
			}
		case math.IsNaN(cell.Number):
			row = append(row, parquet.NullValue().Level(0, 0, i))
		default:
			row = append(row, parquet.DoubleValue(cell.Number).Level(0, 1, i))
		}
	}
	p.batch[n] = row
	if n+1 < cap(p.batch) {
		return nil
	}
	return p.write()
}

// write writes the batch, and the group if it is full.
func (p *parquetRows) write() error {
	_, err := p.w.WriteRows(p.batch)
	p.rows += len(p.batch)
	p.batch, p.text = p.batch[:0], p.text[:0]
	if err == nil && p.rows >= p.most {
		p.rows = 0
		err = p.w.Flush()
	}
	return err
}

func (p *parquetRows) close() error {
	if err := p.write(); err != nil {
		return err
	}
	return p.w.Close()
}
