package torch

import (
	"bytes"
	"encoding/binary"
	"testing"

	"iwda/internal/allocation"
	"iwda/internal/must"
)

// safetensorsWith is a file with that header, and a body of zeros.
func safetensorsWith(header string, body int) []byte {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(file, header...), make([]byte, body)...)
}

// A file of any content is tensors or an error, and an error leaves no tensor behind.
func FuzzParseTensors(f *testing.F) {
	Tidy(func() {
		var whole bytes.Buffer
		must.Do(f, WriteTensors(&whole, []Named{
			{"a", FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)}, {"n", FromSlice([]int64{-1}, 1)},
			{"u", FromSlice([]uint8{7, 8}, 2)}, {"scalar", Full(3, Float64, CPU)},
		}, map[string]string{"epoch": "3"}))
		f.Add(whole.Bytes())
	})
	f.Add(safetensorsWith(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8))
	f.Add(safetensorsWith(`{"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}`, 4))
	f.Add(safetensorsWith(`{"__metadata__":{"a":"b"},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}`, 1))
	f.Fuzz(func(t *testing.T, file []byte) {
		live := LiveTensors()
		Tidy(func() {
			allocation.Within(t, min(1<<20+200*len(file), allocation.Allowed(len(file))), func() {
				tensors, _, err := ParseTensors(file)
				if err != nil && (tensors != nil || LiveTensors() > live) {
					t.Errorf("%d tensors and the error %v", LiveTensors()-live, err)
				}
				size := 0
				for _, tensor := range tensors {
					size += tensor.Len()
				}
				if size > len(file) {
					t.Errorf("%d elements from %d bytes", size, len(file))
				}
			})
		})
	})
}
