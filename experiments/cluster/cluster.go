// Package cluster writes what a cluster needs to carry out the runs of an experiment:
// job scripts for Slurm, a manifest for Kubernetes. Each run is a task of its own,
// which calls iwrun with the experiment's file and the run's index.
package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Experiment is what the tasks are made from.
type Experiment struct {
	Name   string   // of the folder of its results
	Config []byte   // the text of its file
	Set    []string // assignments key=value on top of it
	// Indices are the positions in the plan, from 0 and in order, of the runs to make.
	Indices []int
	// Arguments are handed to every iwrun besides, as in --checkpoint-every=10m.
	Arguments []string
}

// hash returns eight hexadecimal digits that change with the text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(text)) + ":" + text))
	return hex.EncodeToString(sum[:])[:8]
}

var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)`)

// dataVariable is what defaults refer to.
const dataVariable = "IWDA_DATA"

// Variables returns the names of the environment variables that the experiment's file
// and the assignments refer to, sorted.
func (e Experiment) Variables() []string {
	text := string(e.Config) + "\n" + strings.Join(e.Set, "\n")
	var names []string
	for _, match := range reference.FindAllStringSubmatch(text, -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}
