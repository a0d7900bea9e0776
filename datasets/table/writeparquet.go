package table

import (
	"encoding/json"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// A group of rows is in memory until it is written: so many rows of it, and so many values.
const (
	parquetGroup  = 1 << 14
	parquetValues = 1 << 21
)

// parquetRows writes rows into columns.
type parquetRows struct {
	w      *parquet.GenericWriter[any]
	fields []Field
	row    parquet.Row
	rows   int // of the group
	most   int // rows of a group
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
	return &parquetRows{w: parquet.NewGenericWriter[any](w, options...), fields: fields, most: most}, nil
}

func (p *parquetRows) add(row []Cell) error {
	p.row = p.row[:0]
	for i, cell := range row {
		switch {
		case p.fields[i].Kind == TextField:
			p.row = append(p.row, parquet.ValueOf(cell.Text).Level(0, 0, i))
		case p.fields[i].Kind == ClassesField:
			for j, v := range cell.Numbers {
				p.row = append(p.row, parquet.DoubleValue(float64(v)).Level(min(j, 1), 1, i))
			}
		case math.IsNaN(cell.Number):
			p.row = append(p.row, parquet.NullValue().Level(0, 0, i))
		default:
			p.row = append(p.row, parquet.DoubleValue(cell.Number).Level(0, 1, i))
		}
	}
	if _, err := p.w.WriteRows([]parquet.Row{p.row}); err != nil {
		return err
	}
	if p.rows++; p.rows == p.most {
		p.rows = 0
		return p.w.Flush()
	}
	return nil
}

func (p *parquetRows) close() error { return p.w.Close() }
