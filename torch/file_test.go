package torch

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"iwda/internal/must"
)

func TestTensorFiles(t *testing.T) {
	Tidy(func() {
		var buffer bytes.Buffer
		must.Do(t, WriteTensors(&buffer, []Named{
			{"b", FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3).Transpose(0, 1)},
			{"a", FromSlice([]float64{math.Pi}, 1)},
			{"n", FromSlice([]int64{-1, 1 << 40}, 2)},
			{"state", FromSlice([]uint8{7, 8}, 2)},
			{"scalar", Full(3, Float32, CPU)},
			{"mask", FromSlice([]uint8{1, 0, 1}, 3).To(Bool, CPU)},
		}, map[string]string{"epoch": "3"}))
		if !bytes.Contains(buffer.Bytes(), []byte(`"shape":[]`)) {
			t.Error("the shape of a scalar is no empty list, as other programs want it")
		}
		tensors, metadata := must.Both(ParseTensors(buffer.Bytes()))(t)
		if metadata["epoch"] != "3" || len(tensors) != 6 {
			t.Errorf("read %d tensors and %v", len(tensors), metadata)
		}
		if got := ToSlice[float32](tensors["b"]); !slices.Equal(got, []float32{1, 4, 2, 5, 3, 6}) || !slices.Equal(tensors["b"].Shape(), []int{3, 2}) {
			t.Errorf("b is %v of shape %v", got, tensors["b"].Shape())
		}
		if got := ToSlice[int64](tensors["n"]); got[1] != 1<<40 {
			t.Errorf("n is %v", got)
		}
		if got := tensors["scalar"]; got.Item() != 3 || len(got.Shape()) != 0 {
			t.Errorf("scalar is %v", got)
		}
		if got := tensors["mask"]; got.DType() != Bool || !slices.Equal(ToSlice[uint8](got.To(Uint8, CPU)), []uint8{1, 0, 1}) {
			t.Errorf("mask is %v", got)
		}

		for name, content := range map[string][]byte{
			"cut": buffer.Bytes()[:buffer.Len()-3], "empty": {}, "other": []byte("GIF89a, no tensors in here"),
		} {
			tensors, _, err := ParseTensors(content)
			if err == nil || tensors != nil || !strings.Contains(err.Error(), "not a whole safetensors file") {
				t.Errorf("%s: %d tensors, error %v", name, len(tensors), err)
			}
		}
	})
}

// Of two tensors of one name a reader would find the last alone.
func TestTensorsOfOneName(t *testing.T) {
	x := FromSlice([]float32{1})
	if err := WriteTensors(io.Discard, []Named{{"x", x}, {"x", x}}, nil); err == nil {
		t.Error("no error of two tensors of one name")
	}
}
