// Package checkpoint is the file from which an interrupted run goes on: in the safetensors
// format, with a [Record] and the SHA-256 of the whole file as metadata.
//
// It knows nothing of tensors but that they follow the metadata, so that whoever asks how
// far a run is needs no libtorch.
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

// NetworkPrefix stands, with a dot, before the names of the network's tensors.
const NetworkPrefix = "network"

// Record is all of a checkpoint but its tensors.
type Record struct {
	Version string // of the program that wrote it
	Config  string // of the run, as YAML
	State   State
}

// State is how far a run is, and what its parts remember beyond their tensors.
type State struct {
	Step         int // steps completed
	Passes       int // of these with a domain loss
	Seconds      float64
	PeakMemory   int64 // in bytes
	LearningRate float64
	Sums         Sums
	Feed         Feed
	Estimates    []Estimate // of the class weights, of each source
	Metrics      string     // the text of metrics.csv
	Weights      string     // the text of weights.csv
	Restarts     []Restart  `json:",omitempty"`
	Confusion    [][]int    // of the last evaluation

	DataSHA256    string
	WeightsSHA256 string // of the file of pretrained weights
}

// Estimate is how far one of class weights is.
type Estimate struct {
	Updates                int
	SourceRows, TargetRows int // behind the sums of the confusion matrix
}

// Restart is a time at which the run began again.
type Restart struct {
	Step int    `json:"step"` // in which something was not finite, from 1
	Term string `json:"term"` // what
}

// Sums are what steps measured, over those since the last evaluation.
type Sums struct {
	Steps              int
	AlignedSteps       int // with a domain loss
	DiscriminatorSteps int // with a discriminator
	// The losses; Total has the domain loss times its factor.
	Classification, Domain, Total float64
	// The instruments, which show how training goes: root mean squares over a step's rows of
	// ‖z‖ and of the logits, norms of gradients before any limit, and the discriminator's accuracy.
	FeatureNorm, LogitNorm                                        float64
	NetworkGradient, DiscriminatorGradient, DiscriminatorAccuracy float64
}

// Add adds what other steps measured.
func (s *Sums) Add(other Sums) {
	s.Steps += other.Steps
	s.AlignedSteps += other.AlignedSteps
	s.DiscriminatorSteps += other.DiscriminatorSteps
	s.Classification += other.Classification
	s.Domain += other.Domain
	s.Total += other.Total
	s.FeatureNorm += other.FeatureNorm
	s.LogitNorm += other.LogitNorm
	s.NetworkGradient += other.NetworkGradient
	s.DiscriminatorGradient += other.DiscriminatorGradient
	s.DiscriminatorAccuracy += other.DiscriminatorAccuracy
}

// Feed is what the next batches depend on. Each kind of feed uses the fields that it
// needs.
type Feed struct {
	FromSource, FromTarget Sampler   `json:",omitzero"`
	FromOthers             []Sampler `json:",omitempty"` // further sources
	Batches                int       `json:",omitempty"` // handed out
}

// Sampler is what the next rows of a set depend on.
type Sampler struct {
	Generator []byte
	// What is left of a pass without replacement, and the number of passes begun.
	Order  []int `json:",omitempty"`
	Passes int   `json:",omitempty"`
}
