package nets

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/torch"
)

const weightFiles = "../testdata/weights"

func TestReadStateDict(t *testing.T) {
	var expected map[string]struct {
		Shape  []int
		Values []float64
	}
	testfiles.ReadJSON(t, filepath.Join(weightFiles, "expected.json"), &expected)
	types := map[string]torch.DType{
		"conv.weight": torch.Float32, "transposed": torch.Float64, "bn.num_batches_tracked": torch.Int64, "mask": torch.Uint8,
	}
	for _, name := range []string{"zip.pth", "stream.pth", "python2.pth", "parameters.pth"} {
		torch.Tidy(func() {
			path := filepath.Join(weightFiles, name)
			values, sum := must.Both(readBackbone(path))(t)
			if want := checksum(t, path); sum != want {
				t.Errorf("%s: SHA-256 %s, want %s", name, sum, want)
			}
			for key, want := range expected {
				v, ok := values[key]
				if !ok {
					t.Fatalf("%s: no %s", name, key)
				}
				got := torch.ToSlice[float64](v.To(torch.Float64, torch.CPU))
				if !slices.Equal(v.Shape(), want.Shape) || !slices.Equal(got, want.Values) {
					t.Errorf("%s: %s is %v %v, want %v", name, key, v.Shape(), got, want)
				}
			}
			for key, want := range types {
				if got := values[key].DType(); got != want {
					t.Errorf("%s: %s holds %v, want %v", name, key, got, want)
				}
			}
		})
	}
}

func checksum(t *testing.T, path string) string {
	return fmt.Sprintf("%x", sha256.Sum256(testfiles.Read(t, path)))
}

func TestReadStateDictErrors(t *testing.T) {
	damaged := filepath.Join(t.TempDir(), "damaged.safetensors")
	testfiles.Write(t, damaged, "\x10\x00\x00\x00\x00\x00\x00\x00{\"a\":not json  }")
	for path, message := range map[string]string{
		filepath.Join(weightFiles, "evil-zip.pth"):    "system",
		filepath.Join(weightFiles, "evil-stream.pth"): "system",
		damaged: "safetensors",
	} {
		_, sum, err := readBackbone(path)
		if err == nil || !strings.Contains(err.Error(), message) || !strings.Contains(err.Error(), path) || sum != "" {
			t.Errorf("%s: sum %q, error %v", path, sum, err)
		}
	}
}

// save writes a state as a .safetensors file after a change to its tensors.
func save(t *testing.T, state State, change func(tensors []torch.Named) []torch.Named) string {
	t.Helper()
	var tensors []torch.Named
	for _, e := range state {
		tensors = append(tensors, torch.Named{Name: e.Name, Tensor: e.Tensor})
	}
	path := filepath.Join(t.TempDir(), "weights.safetensors")
	file := must.Have(os.Create(path))(t)
	must.Do(t, torch.WriteTensors(file, change(tensors), nil))
	must.Do(t, file.Close())
	return path
}

func TestLoadWeights(t *testing.T) {
	torch.Tidy(func() {
		from, to := small(t), small(t)
		classifier := newLinear(512, 1000).state("fc")
		old := save(t, append(from.State(), classifier...), func(tensors []torch.Named) []torch.Named {
			return slices.DeleteFunc(tensors, func(n torch.Named) bool { return strings.HasSuffix(n.Name, "num_batches_tracked") })
		})
		to.stem.batches.Increment()
		live := torch.LiveTensors()
		sum, err := to.LoadWeights(old)
		if err != nil {
			t.Fatal(err)
		}
		if want := checksum(t, old); sum != want {
			t.Errorf("SHA-256 %s, want %s", sum, want)
		}
		if got := torch.LiveTensors(); got > live {
			t.Errorf("%d tensors are left", got-live)
		}
		want := from.State()
		for i, e := range to.State() {
			if d := e.Tensor.Sub(want[i].Tensor).Square().Sum().Item(); d != 0 {
				t.Errorf("%s differs by %v", e.Name, d)
			}
		}

		wrong := save(t, from.State(), func(tensors []torch.Named) []torch.Named {
			tensors[0].Name = "conv0.weight"
			tensors[1].Tensor = torch.Full(0, torch.Float32, torch.CPU, 65)
			return tensors
		})
		_, err = to.LoadWeights(wrong)
		var mismatch *MismatchError
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), wrong) {
			t.Fatalf("error %v", err)
		}
		if !slices.Equal(mismatch.Missing, []string{"conv1.weight"}) || !slices.Equal(mismatch.Unexpected, []string{"conv0.weight"}) ||
			!slices.Equal(mismatch.Misshapen, []string{"bn1.weight: [65], not [64]"}) {
			t.Errorf("mismatch %+v", mismatch)
		}
	})
}

func TestAbsentWeights(t *testing.T) {
	_, err := small(t).LoadWeights(filepath.Join(t.TempDir(), "none.pth"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v", err)
	}
	for _, part := range []string{"none.pth", "torchvision", "ResNet-18", "resnet18-5c106cde.pth"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
}
