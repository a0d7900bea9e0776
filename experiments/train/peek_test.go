package train

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/torch"
)

// TestCheckpointStep reads the step of a file that was cut off after its head, and of no
// other.
func TestCheckpointStep(t *testing.T) {
	var whole bytes.Buffer
	torch.Tidy(func() {
		tensors := []torch.Named{{Name: "a", Tensor: torch.FromSlice([]float32{1, 2}, 2)}}
		if err := writeSealed(&whole, tensors, map[string]string{stateKey: `{"Passes":3,"Step":17}`}); err != nil {
			t.Fatal(err)
		}
	})
	path := filepath.Join(t.TempDir(), "checkpoint")
	write := func(text []byte) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(whole.Bytes()[:whole.Len()-8])
	if step, err := CheckpointStep(path); step != 17 || err != nil {
		t.Errorf("step %d, %v", step, err)
	}
	for name, text := range map[string][]byte{
		"empty": nil, "cut off": whole.Bytes()[:40], "too long": bytes.Repeat([]byte{255}, 100),
		"without state": append([]byte{2, 0, 0, 0, 0, 0, 0, 0}, "{}"...),
	} {
		write(text)
		if step, err := CheckpointStep(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: step %d, %v", name, step, err)
		}
	}
}
