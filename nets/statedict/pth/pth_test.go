package pth

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/maruel/safetensors"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

const folder = "../../../testdata/weights"

var forms = []string{"zip.pth", "stream.pth", "python2.pth", "parameters.pth"}

func content(t testing.TB, name string) []byte {
	t.Helper()
	return testfiles.Read(t, filepath.Join(folder, name))
}

// numbers are those of a tensor, of which there are as many as its shape says.
func numbers(t testing.TB, tensor safetensors.Tensor) (values []float64) {
	t.Helper()
	for at := 0; at < len(tensor.Data); {
		rest := tensor.Data[at:]
		switch tensor.DType {
		case safetensors.F32:
			values = append(values, float64(math.Float32frombits(binary.LittleEndian.Uint32(rest))))
		case safetensors.F64:
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(rest)))
		case safetensors.I64:
			values = append(values, float64(int64(binary.LittleEndian.Uint64(rest))))
		case safetensors.U8:
			values = append(values, float64(rest[0]))
		}
		at += int(tensor.DType.WordSize())
	}
	return values
}

func TestEveryForm(t *testing.T) {
	var expected map[string]struct {
		Shape  []uint64
		Values []float64
	}
	testfiles.ReadJSON(t, filepath.Join(folder, "expected.json"), &expected)
	for _, name := range forms {
		t.Run(name, func(t *testing.T) {
			tensors := must.Have(Read(content(t, name)))(t)
			if len(tensors) != len(expected) {
				t.Errorf("%d tensors, want %d", len(tensors), len(expected))
			}
			for _, got := range tensors {
				want, is := expected[got.Name]
				if !is || !slices.Equal(got.Shape, want.Shape) || !slices.Equal(numbers(t, got), want.Values) {
					t.Errorf("%s is %v, want %v", got.Name, got, want)
				}
				if got.Name == "conv.weight" && got.DType != safetensors.F32 {
					t.Errorf("conv.weight is of %s", got.DType)
				}
			}
		})
	}
}

func TestNothingIsExecuted(t *testing.T) {
	for name, class := range map[string]string{"evil-zip.pth": "system", "evil-stream.pth": "system"} {
		_, err := Read(content(t, name))
		if err == nil || !strings.Contains(err.Error(), class) {
			t.Errorf("%s: error %v does not name %q", name, err, class)
		}
	}
	if _, err := os.Stat("executed"); err == nil {
		t.Error("a payload ran")
	}
}

const oneAndTwo = "\x00\x00\x80\x3f\x00\x00\x00\x40"

// zipOf is an archive with that pickle and a storage, "0", of those bytes.
func zipOf(t testing.TB, program, storage string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, record := range []struct{ name, content string }{{"a/data.pkl", program}, {"a/data/0", storage}} {
		f, err := w.CreateRaw(&zip.FileHeader{
			Name: record.name, Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(record.content)),
			CompressedSize64: uint64(len(record.content)), UncompressedSize64: uint64(len(record.content)),
		})
		if err != nil {
			t.Fatal(err)
		}
		must.Have(f.Write([]byte(record.content)))(t)
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

// A pickle of {"w": a tensor}, of which the storage's length, the offset, the shape
// and the strides are opcodes.
func oneTensor(length, offset, shape, strides string) string {
	return "\x80\x02}U\x01wctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x010U\x03cpu" +
		length + "tQ" + offset + shape + strides + "\x89NtRs."
}

func TestPickles(t *testing.T) {
	tensors := must.Have(Read(zipOf(t, oneTensor("K\x02", "K\x00", "K\x02\x85", "K\x01\x85"), oneAndTwo)))(t)
	if w := tensors[0]; w.Name != "w" || w.DType != safetensors.F32 || string(w.Data) != oneAndTwo {
		t.Errorf("%+v", w)
	}
	const billions = "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x10"
	for _, c := range []struct{ what, program, message string }{
		{"a storage longer than its record", oneTensor("K\x03", "K\x00", "K\x02\x85", "K\x01\x85"), "ends within"},
		{"a huge storage", oneTensor(billions, "K\x00", "K\x02\x85", "K\x01\x85"), "ends within"},
		{"a huge shape", oneTensor("K\x02", "K\x00", billions+"\x85", "K\x00\x85"), "does not fit"},
		{"a shape whose size overflows", oneTensor("K\x02", "K\x00", billions+billions+"\x86", "K\x00K\x00\x86"), "does not fit"},
		{"an expanded tensor", oneTensor("K\x02", "K\x00", "K\x03\x85", "K\x00\x85"), "does not fit"},
		{"an offset past the end", oneTensor("K\x02", "K\x01", "K\x02\x85", "K\x01\x85"), "does not fit"},
		{"a negative offset", oneTensor("K\x02", "J\xff\xff\xff\xff", "K\x02\x85", "K\x01\x85"), "does not fit"},
		{"a negative stride", oneTensor("K\x02", "K\x01", "K\x02\x85", "J\xff\xff\xff\xff\x85"), "does not fit"},
		{"a huge stride", oneTensor("K\x02", "K\x00", "K\x02\x85", billions+"\x85"), "does not fit"},
		{"strides of another number", oneTensor("K\x02", "K\x00", "K\x02\x85", "K\x01K\x01\x86"), "does not fit"},
		{"strings as a shape", oneTensor("K\x02", "K\x00", "U\x01a\x85", "K\x01\x85"), "other types"},
		{"a class of gopickle's own", "carray\n_array_reconstructor\n.", "_array_reconstructor"},
		{"an unknown module", "cposix\nsystem\n(U\x02lstR.", "posix"},
		{"half precision", "ctorch\nHalfStorage\n.", "HalfStorage"},
		{"an instance by opcode", "(iposix\nsystem\n.", "opcode"},
		{"an extension", "\x82\x01.", "opcode"},
		{"a long string", "T\xff\xff\xff\x7f.", "breaks off"},
		{"a string of 4 GB", "X\xff\xff\xff\xff.", "breaks off"},
		{"an empty long", "\x8a\x00.", "damaged"},
		{"an odd number of items", "}(K\x01u.", "damaged"},
		{"a call of a number", "K\x01)R.", "damaged"},
		{"an empty stack", ".", "damaged"},
		{"no end", "\x80\x02}", "breaks off"},
		{"a class name without an end", "ctorch", "breaks off"},
		{"a list", "].", "no dictionary"},
		{"a number as a name", "}K\x01K\x02s.", "no dictionary"},
		{"no tensor", "}U\x05epochK\x02s.", `"epoch" is not a tensor`},
		{"an empty parameter", "}U\x01pctorch.nn.parameter\nParameter\n)\x81s.", `"p" is not a tensor`},
		{"a long pickle", "}" + strings.Repeat("K\x010", maxPickle/3+1) + ".", "more than"},
	} {
		_, err := Read(zipOf(t, c.program, oneAndTwo))
		if err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.message)
		}
	}
}

// Tensors may share a storage, but together they may not outgrow the file.
func TestSharedStorageDoesNotMultiply(t *testing.T) {
	entry := func(name string) string {
		whole := oneTensor("M\xe8\x03", "K\x00", "M\xe8\x03\x85", "K\x01\x85")
		return strings.Replace(whole[len("\x80\x02}"):len(whole)-1], "U\x01w", "U\x01"+name, 1)
	}
	storage := strings.Repeat(oneAndTwo, 500)
	if tensors, err := Read(zipOf(t, "}"+entry("a")+".", storage)); err != nil || len(tensors) != 1 {
		t.Errorf("one tensor: %d read, error %v", len(tensors), err)
	}
	must.Refuse(Read(zipOf(t, "}"+entry("a")+entry("b")+".", storage)))(t, "larger than the file")
}

func TestOtherFiles(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty": nil, "text": []byte("<html>404 not found</html>"), "checkpoint": content(t, "checkpoint.pth"),
		"zip of nothing": []byte("PK\x03\x04"),
	} {
		if tensors, err := Read(data); err == nil {
			t.Errorf("%s: read %d tensors", name, len(tensors))
		}
	}
	must.Refuse(Read(content(t, "checkpoint.pth")))(t, "whole checkpoint")
}

// A file that was cut off anywhere is an error.
func TestCutFiles(t *testing.T) {
	for _, name := range forms {
		data := content(t, name)
		for length := range len(data) {
			if _, err := Read(data[:length]); err == nil {
				t.Fatalf("%s: read from its first %d of %d bytes", name, length, len(data))
			}
		}
	}
}

// A damaged storage of a zip archive is found by its checksum.
func TestDamagedNumbers(t *testing.T) {
	data := slices.Clone(content(t, "zip.pth"))
	at := bytes.Index(data, binary.LittleEndian.AppendUint32(nil, 0xc0000000)) // -2, the first of conv.weight
	data[at]++
	must.Refuse(Read(data))(t, "checksum")
}

func TestDamageDoesNotAllocate(t *testing.T) {
	const limit = 1 << 20
	var before, after runtime.MemStats
	for _, name := range forms {
		data := content(t, name)
		for at := range len(data) {
			data[at] = ^data[at]
			runtime.ReadMemStats(&before)
			_, _ = Read(data)
			runtime.ReadMemStats(&after)
			data[at] = ^data[at]
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > limit {
				t.Fatalf("%s: %d bytes allocated with byte %d inverted", name, allocated, at)
			}
		}
	}
}
