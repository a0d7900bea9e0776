// Package checkpoint is the file from which an interrupted run goes on: in the safetensors
// format, with a [Record] and the SHA-256 of the whole file as metadata.
//
// It knows nothing of tensors but that they follow the metadata, so that whoever asks how
// far a run is needs no libtorch.
package checkpoint

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
