package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The same forms are those of Python's days.
func TestParseTime(t *testing.T) {
	none := "none"
	for text, want := range map[string]string{
		"2020-01-05": "2020-01-05 00:00:00", " 2020/01/05 ": "2020-01-05 00:00:00", "05.01.2020": "2020-01-05 00:00:00", "05-Jan-2020": "2020-01-05 00:00:00", "1969-12-31": "1969-12-31 00:00:00",
		"2020-01-05T06:00": "2020-01-05 06:00:00", "2020-01-05 06:00:00.5": "2020-01-05 06:00:00.5", "2020-01-05T06:00:00Z": "2020-01-05 06:00:00", "2020-01-05 06:00:00+06:00": "2020-01-05 00:00:00",
		"Jan 5, 2020": "2020-01-05 00:00:00", "January 05, 2020": "2020-01-05 00:00:00", "5 jan 2020": "2020-01-05 00:00:00", "5 January 2020": "2020-01-05 00:00:00",
		"Jan 35, 2020": none, "Januar 5, 2020": none, "in May 2020": none, "apartment 2020": none,
		"2020-13-01": none, "1.2.2020": none, "2020-01-05 x": none, "2020-01-05x06:00": none, "2020-01": none, "": none, "20200105": none, "2020-01-05 ": "2020-01-05 00:00:00", "01/02/2020": none,
	} {
		got := none
		if at, is := ParseTime(text); is {
			got = at.Format("2006-01-02 15:04:05.999999999")
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Dates are numbers of days. A column whose dates in the target all lie outside of the source's says nothing of its
// rows, and neither does one of words of which the target has none.
func TestDates(t *testing.T) {
	source := write(t, "source.csv", "when,seen,word,x\n"+strings.Repeat("2020-01-01,01.03.2020,a,1\n2020-01-03T12:00:00Z,,b,2\n2020-01-05,05.03.2020,a,3\n", 4))
	target := write(t, "target.csv", "when,seen,word,x\n"+strings.Repeat("2020-01-02,2020-04-01,c,1\n,2021-04-01,d,2\n", 5))
	got := learnt(t, source, target)
	if diff := cmp.Diff(Encoding{{Column: "when", Median: 18264.5, Missing: true}, {Column: "seen", Median: 18324, Missing: true}, {Column: "word", Levels: []string{"a", "b"}}, {Column: "x", Median: 2}}, got.Encoding); diff != "" {
		t.Error(diff)
	}
	var apart []string
	for _, c := range got.Columns {
		apart = append(apart, c.Apart)
	}
	if diff := cmp.Diff([]string{"", "its dates are from 2020-03-01 to 2020-03-05, and all of " + target + " from 2020-04-01 to 2021-04-01", "none of its words is in " + target, ""}, apart); diff != "" {
		t.Error(diff)
	}
	percent, plain := write(t, "percent.csv", "part,x\n45.3%,1\n46.1%,2\n"), write(t, "plain.csv", "part,x\n45.3,1\n")
	if got, want := learnt(t, percent, plain).Columns[0].LeftOut, plain+`:2: "45.3" is not a number with "%"; 1 of 1 cells are not, but in `+percent+` the column has numbers`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	alone := learnt(t, write(t, "alone.csv", "when,x\n2020-01-01,1\n2020-01-03T12:00:00Z,2\n,3\n")).Encoding
	encodedAs(t, write(t, "rows.csv", "when,x\n2020-01-02,1\n,2\nNA,1\n"), alone, 18263, 0, 1, 18263.25, 1, 2, 18263.25, 1, 1)
}

// Parquet's dates and timestamps are those that text has.
func TestParquetDates(t *testing.T) {
	type row struct {
		Date  *int32  `parquet:"date,optional,date"`
		Milli int64   `parquet:"milli,timestamp(millisecond)"`
		Micro int64   `parquet:"micro,timestamp(microsecond)"`
		Nano  int64   `parquet:"nano,timestamp(nanosecond)"`
		X     float32 `parquet:"x"`
	}
	const day = 24 * 60 * 60
	date := int32(18266)
	source := write(t, "source.parquet", parquetOf(t, []row{{&date, day * 500, 2 * day * 1e6, -3 * day * 1e9, 1}, {nil, 0, 0, 0, 2}}))
	e := learnt(t, source).Encoding
	if diff := cmp.Diff([]string{"date", "date is missing", "milli", "micro", "nano", "x"}, e.Columns()); diff != "" {
		t.Fatal(diff)
	}
	encodedAs(t, source, e, 18266, 0, 0.5, 2, -3, 1, 18266, 1, 0, 0, 0, 2)
	encodedAs(t, write(t, "rows.csv", "date,milli,micro,nano,x\n2020-01-05,1970-01-01 12:00,1970-01-03,1969-12-29,1\n"), e, 18266, 0, 0.5, 2, -3, 1)
}
