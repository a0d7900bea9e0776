// Package architecture names the networks of package nets and says what they take. It
// needs no libtorch, so that configurations can be read without it.
package architecture

import (
	"fmt"
	"slices"
	"strings"
)

// Name is a network's name.
type Name string

// The networks.
const (
	LeNet    Name = "lenet"
	MLP      Name = "mlp"
	Linear   Name = "linear" // a classifier of the rows themselves
	Forest   Name = "forest" // another
	Boosting Name = "boosting"
	// Perceptron is an MLP of one layer that is made without steps.
	Perceptron Name = "perceptron"
	ResNet18   Name = "resnet18"
	ResNet34   Name = "resnet34"
	ResNet50   Name = "resnet50"
	ResNet101  Name = "resnet101"
	ResNet152  Name = "resnet152"
	// TorchScript is a backbone that the user brings, as a file of PyTorch.
	TorchScript Name = "torchscript"
)

// Input is what the rows of a network's batches are.
type Input int

const (
	// SmallImages have the shape {1, 28, 28}.
	SmallImages Input = iota + 1
	// Vectors are rows of numbers, such as features.
	Vectors
	// Photographs have the shape {3, height, width}; LeNet takes {3, 28, 28}.
	Photographs
)

// LeNetSide is the height and width of the images that LeNet takes.
const LeNetSide = 28

// all holds every network with its inputs, in the order in which they are listed to users.
var all = []struct {
	name   Name
	takes  []Input
	learnt bool
}{
	{LeNet, []Input{SmallImages, Photographs}, false},
	{MLP, []Input{Vectors}, false},
	{Linear, []Input{Vectors}, true},
	{Forest, []Input{Vectors}, true},
	{Boosting, []Input{Vectors}, true},
	{Perceptron, []Input{Vectors}, true},
	{ResNet18, []Input{Photographs}, false},
	{ResNet34, []Input{Photographs}, false},
	{ResNet50, []Input{Photographs}, false},
	{ResNet101, []Input{Photographs}, false},
	{ResNet152, []Input{Photographs}, false},
	{TorchScript, []Input{Vectors, Photographs}, false},
}

// weights are torchvision's first files of ImageNet weights, which the paper used. The second half
// of a name is the start of the file's SHA-256.
var weights = map[Name]string{
	ResNet18:  "resnet18-5c106cde.pth",
	ResNet34:  "resnet34-333f7ec4.pth",
	ResNet50:  "resnet50-19c8e357.pth",
	ResNet101: "resnet101-5d3b4d8f.pth",
	ResNet152: "resnet152-b121ed2d.pth",
}

// WeightsURL is where a ResNet's pretrained weights are; "" for other networks.
func WeightsURL(name Name) string {
	file, known := weights[name]
	if !known {
		return ""
	}
	return "https://download.pytorch.org/models/" + file
}

// Names returns the names that Parse knows.
func Names() []string {
	var names []string
	for _, a := range all {
		names = append(names, string(a.name))
	}
	return names
}

// OnRows tells whether a network has no features but the rows themselves.
func (n Name) OnRows() bool { return n.Learnt() && n != Perceptron }

// Learnt tells whether a network is made by a learner, without steps, in which alone domains can be aligned.
func (n Name) Learnt() bool {
	for _, a := range all {
		if a.name == n {
			return a.learnt
		}
	}
	return false
}

// Taking returns the names of the networks that take such rows.
func Taking(input Input) []string {
	var names []string
	for _, a := range all {
		if slices.Contains(a.takes, input) {
			names = append(names, string(a.name))
		}
	}
	return names
}

// Parse returns the network of that name. An unknown name is an error that lists the
// names there are.
func Parse(name string) (Name, error) {
	for _, a := range all {
		if string(a.name) == name {
			return a.name, nil
		}
	}
	return "", fmt.Errorf("nets: no network %q; there are %s", name, strings.Join(Names(), ", "))
}
