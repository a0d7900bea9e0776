package table

import (
	"fmt"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"iwda/internal/printable"
)

// leafOf returns the column that holds a field's values, which a list has below it.
func leafOf(field *parquet.Column) *parquet.Column {
	for !field.Leaf() && len(field.Columns()) == 1 {
		field = field.Columns()[0]
	}
	return field
}

// single returns a field, which must have one value a row.
func single(field *parquet.Column) (*parquet.Column, error) {
	if !field.Leaf() || field.MaxRepetitionLevel() > 0 {
		wanted := ""
		if leafOf(field).MaxRepetitionLevel() > 0 {
			wanted = "; a list of all values of a row must have the name " + printable.Or(kindNames)
		}
		return nil, fmt.Errorf("column %q holds %s; want one number or text a row%s", field.Name(), typeName(field), wanted)
	}
	return field, nil
}

func typeName(field *parquet.Column) string {
	if leaf := leafOf(field); leaf.Leaf() {
		if leaf.MaxRepetitionLevel() > 0 {
			return "lists"
		}
		return leaf.Type().String()
	}
	return "groups of columns"
}

// isNumeric reports whether a column holds numbers that are what they are stored as: no dates,
// no decimals.
func isNumeric(leaf *parquet.Column) bool {
	logical := logicalOf(leaf)
	switch leaf.Type().Kind() {
	case parquet.Boolean, parquet.Int32, parquet.Int64, parquet.Float, parquet.Double:
		_, integer := logical.(*format.IntType)
		return integer || logical == nil
	case parquet.FixedLenByteArray:
		_, half := logical.(*format.Float16Type)
		return half
	}
	return false
}

// isText reports whether a column holds words.
func isText(leaf *parquet.Column) bool {
	_, decimal := logicalOf(leaf).(*format.DecimalType)
	return leaf.Type().Kind() == parquet.ByteArray && !decimal
}

// isUnsigned reports whether a column holds whole numbers without a sign.
func isUnsigned(leaf *parquet.Column) bool {
	integer, is := logicalOf(leaf).(*format.IntType)
	return is && !integer.IsSigned
}

// momentOf returns what turns the integers of a column of dates, or of dates with times, into them; nil of any other
// column.
func momentOf(leaf *parquet.Column) func(int64) time.Time {
	switch logical := logicalOf(leaf).(type) {
	case *format.DateType:
		return func(days int64) time.Time { return time.Unix(0, 0).UTC().AddDate(0, 0, int(days)) }
	case *format.TimestampType:
		switch logical.Unit.Value.(type) {
		case *format.MilliSeconds:
			return time.UnixMilli
		case *format.MicroSeconds:
			return time.UnixMicro
		}
		return func(nanoseconds int64) time.Time { return time.Unix(0, nanoseconds) }
	}
	return nil
}

// logicalOf is what a column's values are beside what they are stored as; nil for nothing.
func logicalOf(leaf *parquet.Column) any {
	if annotated := leaf.Type().LogicalType(); annotated != nil {
		return annotated.Value
	}
	return nil
}

// readable returns an error unless the values of a column are numbers or texts, or all null.
func readable(column *parquet.Column) error {
	if _, null := logicalOf(column).(*format.NullType); null || isNumeric(column) || isText(column) {
		return nil
	}
	return fmt.Errorf("column %q holds %s, which is not read; write it as numbers or texts, or leave it out", column.Name(), typeName(column))
}

func notNumbers(column *parquet.Column) error {
	return fmt.Errorf("column %q holds %s; want numbers, but in the columns of ids and labels; name it if it is one of these, or leave it out", column.Path()[0], typeName(column))
}
