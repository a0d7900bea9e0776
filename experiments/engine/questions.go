package engine

import (
	"time"
)

// The questions that iwrun-torch answers, each what takes libtorch. Their arguments and answers are:
const (
	Devices  = "training"           // string: names, as --device takes them; []string: of the devices
	GetFacts = "iwrun doctor"       // nothing; Facts
	Open     = "opening a network"  // Models; int: a number by which Rows name them
	Apply    = "applying a network" // Rows; Outputs: the logits by each of the members, one after the other
	Measure  = "measuring steps"    // []Work, each with a configuration; Costs
)

// Facts are what iwrun-torch knows of itself and its machine.
type Facts struct {
	Torch       string   // libtorch's version
	CUDADevices []string // the models
	OneDNN      bool     // multiplies matrices of float32
	Parallel    string   // libtorch's own description of its threads and libraries
}

// Models are models whose networks are made.
type Models struct {
	Folders []string
	Modules []string // the SHA-256 of the module of each that may run, "" for none
	Device  string
	Threads int
}

// Rows are rows for some members of opened models.
type Rows struct {
	Of         int
	Members    []int
	Shape      []int     // of a row
	Normalised bool      // as the networks want them
	Values     []float32 `json:"-"` // row after row
}

func (r *Rows) numbers() *[]float32 { return &r.Values }

// Outputs are what networks make of rows, row after row.
type Outputs struct {
	Values []float32 `json:"-"`
}

func (o *Outputs) numbers() *[]float32 { return &o.Values }

// Costs is how long runs take one after the other on one device.
type Costs struct {
	Runs    int // of which it is known
	Time    time.Duration
	Unknown string // why it is not known of the others; "" if there are none
}

// Work is how a run is made. A worker gets it as a word of its command line.
type Work struct {
	Device      string
	Threads     int
	Checkpoints time.Duration // between two
	Config      string        // as YAML
}
