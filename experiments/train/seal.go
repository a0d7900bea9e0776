package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"iwda/torch"
)

// sealKey is the metadata's key of a checkpoint's SHA-256, which is that of the whole
// file with zeros in its own place. The format itself would not notice a flipped bit.
const sealKey = "sha256"

var unsealed = strings.Repeat("0", 2*sha256.Size)

// writeSealed writes a safetensors file with its own SHA-256 among the metadata. It
// makes the file twice, once for the sum, rather than hold all of it in memory.
func writeSealed(w io.Writer, tensors []torch.Named, metadata map[string]string) error {
	metadata[sealKey] = unsealed
	sum := sha256.New()
	if err := torch.WriteTensors(sum, tensors, metadata); err != nil {
		return err
	}
	metadata[sealKey] = hex.EncodeToString(sum.Sum(nil))
	return torch.WriteTensors(w, tensors, metadata)
}

// readSealed reads what writeSealed wrote. A file that is not whole is an error that
// names it.
func readSealed(path string) (map[string]torch.Tensor, map[string]string, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	place, err := seal(file)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	want := string(place)
	copy(place, unsealed)
	if sum := sha256.Sum256(file); hex.EncodeToString(sum[:]) != want {
		return nil, nil, fmt.Errorf("%s is damaged: its SHA-256 is not the one that it states", path)
	}
	tensors, metadata, err := torch.ParseTensors(file)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return tensors, metadata, nil
}

// seal returns the bytes of the file that hold its SHA-256.
func seal(file []byte) ([]byte, error) {
	_, after, found := bytes.Cut(file, []byte(`"`+sealKey+`":"`))
	if !found || len(after) < len(unsealed) {
		return nil, errors.New("no checkpoint, or one without its SHA-256")
	}
	return after[:len(unsealed):len(unsealed)], nil
}
