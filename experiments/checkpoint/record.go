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
	Losses       Losses
	Instruments  Instruments
	Feed         Feed
	Updates      int // of the class weights
	SourceRows   int // behind the sums of the confusion matrix
	TargetRows   int
	Metrics      string    // the text of metrics.csv
	Weights      string    // the text of weights.csv
	Restarts     []Restart `json:",omitempty"`
	Confusion    [][]int   // of the last evaluation

	DataSHA256    string
	WeightsSHA256 string // of the file of pretrained weights
}

// Restart is a time at which the run began again.
type Restart struct {
	Step int    `json:"step"` // in which something was not finite, from 1
	Term string `json:"term"` // what
}

// Losses are sums over the steps since the last evaluation.
type Losses struct {
	Classification, Domain, Total float64
	Steps, AlignedSteps           int // AlignedSteps are those with a domain loss
}

// Instruments are sums over the same steps of what shows how training goes.
type Instruments struct {
	FeatureNorm, LogitNorm                       float64
	NetworkGradient                              float64
	DiscriminatorGradient, DiscriminatorAccuracy float64
	Steps, DiscriminatorSteps                    int // DiscriminatorSteps are those with a discriminator
}

// Feed is what the next batches depend on. Each kind of feed uses the fields that it
// needs.
type Feed struct {
	Source, Target []byte `json:",omitempty"` // generators
	// What is left of a pass without replacement, and the number of passes begun.
	SourceOrder, TargetOrder   []int `json:",omitempty"`
	SourcePasses, TargetPasses int   `json:",omitempty"`
	Batches                    int   `json:",omitempty"` // handed out
}
