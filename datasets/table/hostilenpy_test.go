package table

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"iwda/internal/must"
)

// npyWith is a .npy file of version 1 with that header, and what follows it.
func npyWith(header, body string) string {
	return npyMagic + "\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header + body
}

// npyOf is a .npy file of that type and shape.
func npyOf(descr, shape, body string) string {
	return npyWith("{'descr': '"+descr+"', 'fortran_order': False, 'shape': "+shape+", }\n", body)
}

const (
	one  = "\x00\x00\x80\x3f"
	nan  = "\x00\x00\xc0\x7f"
	long = "\x01\x00\x00\x00\x00\x00\x00\x00"
)

type member struct{ name, content string }

func zipOf(t testing.TB, method uint16, members ...member) string {
	t.Helper()
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	for _, m := range members {
		part := must.Have(w.CreateHeader(&zip.FileHeader{Name: m.name, Method: method}))(t)
		must.Have(part.Write([]byte(m.content)))(t)
	}
	must.Do(t, w.Close())
	return buffer.String()
}

func TestNPYThatIsWrong(t *testing.T) {
	for words, content := range map[string]string{
		"row 0: column 1: +Inf, or a number beyond 3.4e38": npyOf("<f8", "(1, 2)", strings.Repeat("\x00", 8)+"\xa0\xc8\xeb\x85\xf3\xcc\x17\x48"),
		"row 1: column 0: NaN; values must be finite":      npyOf("<f4", "(2, 2)", one+one+nan+one),
		"do not fill the shape [2 2]":                      npyOf("<f4", "(2, 2)", one+one+one),
		"do not fill the shape [1 1]":                      npyOf("<f4", "(1, 1)", one+one),
		"do not fill the shape [1000000000 1000]":          npyOf("<f4", "(1000000000, 1000)", one),
		"do not fill the shape [4294967296 42949":          npyOf("<f4", "(4294967296, 4294967296)", ""),
		"[-2 -1]":                             npyOf("<f4", "(-2, -1)", one+one),
		"0 values a row":                      npyOf("<f4", "(5, 0)", ""),
		"holds no rows":                       npyOf("<f4", "(0, 5)", ""),
		"has shape [2]; want rows × values":   npyOf("<f4", "(2,)", one+one),
		"elements of type text; want numbers": npyOf("<U1", "(1, 1)", one),
		"highest byte first; save them with":  npyOf(">f4", "(1, 1)", one),
		"Python objects":                      npyOf("|O", "(1, 1)", long),
		"elements of type \"<c8\"":            npyOf("<c8", "(1, 1)", long),
		"elements of type \"<f999999999999":   npyOf("<f999999999999", "(1, 1)", long),
		"damaged header":                      npyWith("{'descr': '<f4'", one),
		"damaged header: runtime error":       npyWith("'shape': 'fortran_order': 'descr': \n", one),
		"the header is cut off":               "\x93NUMPY\x01\x00\xff\xff{",
		"a header of 4294967295 bytes, which": "\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': ",
		"not a .npy file":                     "no array at all",
	} {
		refused(t, write(t, "rows.npy", content), Options{}, words)
	}
	refused(t, "testdata/big.npy", Options{}, "astype('<f4')")
}

func TestNPZThatIsWrong(t *testing.T) {
	values := member{"features.npy", npyOf("<f4", "(2, 1)", one+one)}
	labels := func(descr, shape, body string) member { return member{"labels.npy", npyOf(descr, shape, body)} }
	for words, members := range map[string][]member{
		"no array of the values, features, probabilities, logits; there are \"x\"": {{"x.npy", values.content}},
		"there are \"../features\", \"/labels\"":                                   {{"../features.npy", values.content}, {"/labels.npy", values.content}},
		"holds both features and logits":                                           {values, {"logits.npy", values.content}},
		"labels has 1 elements for 2 rows":                                         {values, labels("<i8", "(1,)", long)},
		"labels has shape [1 2]; want one element a row":                           {values, labels("<i8", "(1, 2)", long+long)},
		"labels: row 1: 0.5 is no whole number":                                    {values, labels("<f4", "(2,)", one+"\x00\x00\x00\x3f")},
		"labels: row 0: text with the character 0x110000":                          {values, labels("<U1", "(2,)", "\x00\x00\x11\x00a\x00\x00\x00")},
		"labels: row 0: text that is not UTF-8":                                    {values, labels("|S1", "(2,)", "\xffa")},
		"labels: row 0: label 1; class_names has 1 names":                          {values, labels("<i8", "(2,)", long+long), {"class_names.npy", npyOf("|S1", "(1,)", "a")}},
		"two classes of":                                        {values, {"class_names.npy", npyOf("|S1", "(2,)", "aa")}},
		"class 1 of":                                            {values, {"class_names.npy", npyOf("|S1", "(2,)", "a\x00")}},
		"class_names has shape [1000000]":                       {values, {"class_names.npy", npyOf("|b1", "(1000000,)", strings.Repeat("a", 1000000))}},
		"two arrays of the name \"features\"":                   {values, {"features", values.content}},
		"features: 4 bytes follow the header":                   {{"features.npy", npyOf("<f4", "(2, 1)", one)}, labels("<i8", "(2,)", long+long)},
		"row 0: column 0: 2 is no probability":                  {{"probabilities.npy", npyOf("<f4", "(1, 2)", "\x00\x00\x00\x40"+one)}},
		"row 0: the probabilities sum to 2, not 1":              {{"probabilities.npy", npyOf("<f4", "(1, 2)", one+one)}},
		"2 names of classes for 1 probabilities a row":          {{"probabilities.npy", npyOf("<f4", "(1, 1)", one)}, {"class_names.npy", npyOf("|S1", "(2,)", "ab")}},
		"label \"1\" is not a class of":                         {{"probabilities.npy", npyOf("<f4", "(1, 1)", one)}, labels("<i8", "(1,)", long)},
		"labels: elements of type \"|U99999\"; want numbers or": {values, labels("|U99999", "(2,)", "")},
	} {
		for _, method := range []uint16{zip.Store, zip.Deflate} {
			refused(t, write(t, "rows.npz", zipOf(t, method, members...)), Options{}, words)
		}
	}
	refused(t, "testdata/objects.npz", Options{}, "labels: the elements are Python objects")
	refused(t, "testdata/half.npz", Options{Roles: Roles{Label: "y"}}, `no "y"; there are "features", "labels", "ids"`)
	refused(t, write(t, "rows.npz", "no archive"), Options{}, "not a whole .npz file")
	refused(t, write(t, "rows.npz", ""), Options{}, "not a whole .npz file")
}

// A member whose bytes were changed or that holds more or less than it says is no rows.
func TestNPZThatIsDamaged(t *testing.T) {
	whole := zipOf(t, zip.Store, member{"features.npy", npyOf("<f4", "(2, 1)", one+one)})
	changed := strings.Replace(whole, one+one, one+"\x01"+one[1:], 1)
	refused(t, write(t, "rows.npz", changed), Options{}, "features: after row 1: zip: checksum error")
	refused(t, write(t, "rows.npz", whole[:len(whole)-30]), Options{}, "not a whole .npz file")

	const sizes = 24 // where the directory of an archive has the size of its first member
	directory := strings.Index(whole, "PK\x01\x02")
	for _, claimed := range []uint32{8, 1 << 31, 1<<32 - 2} {
		lying := []byte(whole)
		binary.LittleEndian.PutUint32(lying[directory+sizes:], claimed)
		refused(t, write(t, "rows.npz", string(lying)), Options{}, "")
	}
	bomb := zipOf(t, zip.Deflate, member{"features.npy", npyOf("<f4", "(25000, 1000)", strings.Repeat("\x00", 100_000_000))})
	refused(t, write(t, "rows.npz", bomb), Options{}, "unpacks to more than 100 times its size")
}
