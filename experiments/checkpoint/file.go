package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"iwda/internal/input"
	"iwda/internal/seal"
	"iwda/internal/wholefile"
)

// format changes when an older program could not read a checkpoint, or would read it
// wrongly.
const format = "1"

// The keys of a checkpoint's metadata.
const (
	formatKey  = "format"
	versionKey = "iwda"
	configKey  = "config"
	stateKey   = "state"
	sealKey    = "sha256" // of the file's seal
)

// beforeSeal stands before the seal.
const beforeSeal = `"` + sealKey + `":"`

// DamagedError is a file that is no whole checkpoint.
type DamagedError struct {
	Path   string
	Reason error
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %v", e.Path, e.Reason) }
func (e *DamagedError) Unwrap() error { return e.Reason }

// Write writes a checkpoint to an empty file. tensors is to write a safetensors file with
// the metadata that it is given; it is called once.
func Write(file wholefile.File, record Record, tensors func(w io.Writer, metadata map[string]string) error) error {
	state, err := json.Marshal(record.State)
	if err != nil {
		return err
	}
	metadata := map[string]string{
		formatKey: format, versionKey: record.Version, configKey: record.Config, stateKey: string(state), sealKey: seal.Zeros,
	}
	sum, start := sha256.New(), &beginning{}
	if err := tensors(io.MultiWriter(file, sum, start), metadata); err != nil {
		return err
	}
	place, err := seal.Place(start.text, beforeSeal)
	if err != nil {
		return err
	}
	_, err = file.WriteAt([]byte(hex.EncodeToString(sum.Sum(nil))), int64(place))
	return err
}

// beginning keeps the first bytes of a file, up to and with its seal.
type beginning struct {
	text  []byte
	whole bool
}

func (b *beginning) Write(text []byte) (int, error) {
	if !b.whole {
		b.text = append(b.text, text...)
		_, err := seal.Place(b.text, beforeSeal)
		b.whole = err == nil
	}
	return len(text), nil
}

// File is a checkpoint that was read and found whole.
type File struct {
	Record  Record
	Content []byte // of the safetensors file
}

// Read reads a checkpoint. The error is a [*DamagedError] for a file that is not whole. One that
// cannot be read, or is in the format of another version, may be whole all the same.
func Read(path string) (File, error) {
	content, err := input.Read(path, input.Tensors)
	if err != nil {
		return File{}, err
	}
	if err := seal.Check(content, beforeSeal); err != nil {
		return File{}, &DamagedError{path, err}
	}
	record, err := readRecord(path, content)
	return File{record, content}, err
}

// readRecord reads the head of a checkpoint. The errors are those of [Read].
func readRecord(path string, content []byte) (Record, error) {
	metadata, err := readMetadata(bytes.NewReader(content))
	if err != nil {
		return Record{}, &DamagedError{path, err}
	}
	if metadata[formatKey] != format {
		return Record{}, fmt.Errorf("%s: format: %q there, %q here: another version of iwda wrote it", path, metadata[formatKey], format)
	}
	record := Record{Version: metadata[versionKey], Config: metadata[configKey]}
	if err := json.Unmarshal([]byte(metadata[stateKey]), &record.State); err != nil {
		return Record{}, &DamagedError{path, fmt.Errorf("%s: %w", stateKey, err)}
	}
	return record, nil
}

// readMetadata reads the head of a safetensors file: its length in eight bytes, and JSON.
func readMetadata(file io.Reader) (map[string]string, error) {
	var length uint64
	if err := binary.Read(file, binary.LittleEndian, &length); err != nil {
		return nil, err
	}
	const most = 100 << 20 // bytes of a head that the format allows
	if length > most {
		return nil, fmt.Errorf("its head would have %d bytes", length)
	}
	var head struct {
		Metadata map[string]string `json:"__metadata__"`
	}
	err := json.NewDecoder(io.LimitReader(file, int64(length))).Decode(&head)
	return head.Metadata, err
}
