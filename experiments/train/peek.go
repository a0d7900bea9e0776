package train

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// CheckpointStep returns the number of steps that a run had completed when it wrote the
// checkpoint. It reads the head of the file and does not check the rest.
func CheckpointStep(path string) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	step, err := peekStep(file)
	if err != nil {
		return 0, fmt.Errorf("%s is no checkpoint: %w", path, err)
	}
	return step, nil
}

// peekStep reads the head of a safetensors file: its length in eight bytes, and JSON.
func peekStep(file io.Reader) (int, error) {
	var length uint64
	if err := binary.Read(file, binary.LittleEndian, &length); err != nil {
		return 0, err
	}
	const most = 100 << 20 // bytes of a head that the format allows
	if length > most {
		return 0, fmt.Errorf("its head would have %d bytes", length)
	}
	var head struct {
		Metadata map[string]string `json:"__metadata__"`
	}
	if err := json.NewDecoder(io.LimitReader(file, int64(length))).Decode(&head); err != nil {
		return 0, err
	}
	var state struct{ Step int }
	if err := json.Unmarshal([]byte(head.Metadata[stateKey]), &state); err != nil {
		return 0, err
	}
	return state.Step, nil
}
