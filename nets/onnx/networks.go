package onnx

import (
	"fmt"
	"slices"

	"iwda/learners/boosting"
	"iwda/learners/forest"
	"iwda/nets/architecture"
)

// rows is a value of shape (rows × size).
type rows struct {
	name string
	size int
}

// images is a value of shape (rows × channels × height × width).
type images struct {
	name                    string
	channels, height, width int
}

// network appends an architecture and returns its outputs, "features" and "logits".
func (g *graph) network(name architecture.Name, frozen bool, trees, classes int, x string, shape []int) (features, logits rows) {
	vectors := slices.Contains(architecture.Taking(architecture.Vectors), string(name))
	if vectors != (len(shape) == 1) {
		g.fail("rows of shape %v are not what %s takes", shape, name)
		return rows{}, rows{}
	}
	switch {
	case name.OnRows():
		features = rows{g.prefix + "features", shape[0]}
		g.nodeAs("Identity", []string{x}, features.name)
		switch name {
		case architecture.Forest:
			return features, g.forest(features, trees)
		case architecture.Boosting:
			return features, g.boosting(features, trees, classes)
		}
	case vectors:
		features = g.mlp(rows{x, shape[0]})
	case name == architecture.LeNet:
		features = g.lenet(images{x, shape[0], shape[1], shape[2]})
	case frozen:
		features = g.activeAs(g.resnet(images{x, shape[0], shape[1], shape[2]}), "bottleneck", "features")
	default:
		features = g.linearAs(g.resnet(images{x, shape[0], shape[1], shape[2]}), "bottleneck", "features")
	}
	return features, g.linearAs(features, "classifier", "logits")
}

func (g *graph) lenet(x images) rows {
	for _, name := range []string{"conv_params.0", "conv_params.3"} {
		x = g.convolution(x, name, true, 1, 0)
		x.name = g.node("MaxPool", []string{x.name}, ints("kernel_shape", 2, 2), ints("strides", 2, 2))
		x.height, x.width = x.height/2, x.width/2
		x.name = g.node("Relu", []string{x.name})
	}
	flat := rows{g.node("Flatten", []string{x.name}, integer("axis", 1)), x.channels * x.height * x.width}
	return g.activeAs(flat, "fc_params.0", "features")
}

func (g *graph) mlp(x rows) rows {
	for i := 1; g.has(fmt.Sprintf("hidden%d.weight", i)); i++ {
		name := fmt.Sprintf("hidden%d", i)
		x = g.activeAs(x, name, name)
	}
	return g.activeAs(x, "bottleneck", "features")
}

// forest appends a random forest.
func (g *graph) forest(x rows, trees int) rows {
	nodes, shares := g.shape(forest.NodesTensor, 2)[0], g.shape(forest.SharesTensor, 2)
	leaves, k := shares[0], shares[1]
	table := g.parameter(forest.NodesTensor, nodes, forest.Fields)
	f := forest.Forest{Trees: trees, Classes: k, Nodes: g.parameters[forest.NodesTensor].Values, Shares: g.parameters[forest.SharesTensor].Values}
	said := g.parameter(forest.SharesTensor, leaves, k)
	if g.err != nil {
		return rows{}
	}
	depth, err := f.Check(x.size)
	if err != nil {
		g.fail("%s: %w", forest.NodesTensor, err)
	}
	leaf := g.whole(g.leaves(x, table, trees, depth, "forest", false))
	mean := g.node("ReduceMean", []string{g.node("Gather", []string{said, leaf}, integer("axis", 0))}, ints("axes", 0), integer("keepdims", 0))
	p := g.node("Mul", []string{mean, g.number("forest.trees", float64(trees)/float64(trees+1))})
	p = g.node("Add", []string{p, g.number("forest.least", 1/float64(k*(trees+1)))})
	logits := rows{g.prefix + "logits", k}
	g.nodeAs("Log", []string{p}, logits.name)
	return logits
}

// boosting appends boosted trees: each class's logit is the sum of what its trees' leaves say, and that of
// the first of two classes is 0.
func (g *graph) boosting(x rows, trees, classes int) rows {
	table := g.parameter(boosting.NodesTensor, g.shape(boosting.NodesTensor, 2)[0], boosting.Fields)
	model := boosting.Model{Trees: trees, Classes: classes, Nodes: g.parameters[boosting.NodesTensor].Values}
	if g.err != nil {
		return rows{}
	}
	depth, err := model.Check(x.size)
	if err != nil {
		g.fail("%s: %w", boosting.NodesTensor, err)
		return rows{}
	}
	said := g.leaves(x, table, trees, depth, "boosting", true)
	of := Tensor{[]int{classes, trees}, make([]float32, classes*trees)} // 1 for the class's trees
	for tree := range trees {
		of.Values[model.ClassOf(tree)*trees+tree] = 1
	}
	logits := rows{g.prefix + "logits", classes}
	g.nodeAs("Transpose", []string{g.node("MatMul", []string{g.constant("boosting.classes", of), said})}, logits.name, ints("perm", 1, 0))
	return logits
}

// leaves appends the way of rows to their leaves and returns the thresholds of these (trees × rows): from
// the roots of all trees, as many steps as the deepest leaf is away. A row that is at a leaf stays there.
// The table (nodes × fields) has of each node a column, a threshold, the nodes of values up to it and of
// others, and, if some may be missing, of those.
func (g *graph) leaves(x rows, table string, trees, depth int, kind string, missing bool) string {
	part := func(field int) string { // of all nodes
		index := g.constant(fmt.Sprintf("%s.field%d", kind, field), Tensor{nil, []float32{float32(field)}})
		return g.node("Gather", []string{table, g.whole(index)}, integer("axis", 1))
	}
	columns, thresholds, left, right, absent := g.whole(part(0)), part(1), g.whole(part(2)), g.whole(part(3)), ""
	if missing {
		absent = g.whole(part(4))
	}
	roots := Tensor{[]int{trees, 1}, make([]float32, trees)}
	for tree := range roots.Values {
		roots.Values[tree] = float32(tree)
	}
	n := g.node("Shape", []string{x.name}, integer("start", 0), integer("end", 1))
	at := g.node("Expand", []string{g.whole(g.constant(kind+".roots", roots)), n}) // trees × rows
	values := g.node("Transpose", []string{x.name}, ints("perm", 1, 0))
	of := func(table string) string { return g.node("Gather", []string{table, at}, integer("axis", 0)) }
	for range depth {
		value := g.node("GatherElements", []string{values, of(columns)}, integer("axis", 0))
		next := g.node("Where", []string{g.node("LessOrEqual", []string{value, of(thresholds)}), of(left), of(right)})
		if missing {
			next = g.node("Where", []string{g.node("IsNaN", []string{value}), of(absent), next})
		}
		at = next
	}
	return of(thresholds)
}

// whole casts to whole numbers.
func (g *graph) whole(x string) string { return g.node("Cast", []string{x}, integer("to", int64Type)) }

// number is a constant.
func (g *graph) number(name string, v float64) string {
	return g.constant(name, Tensor{nil, []float32{float32(v)}})
}

// resnet appends a backbone, of as many blocks as there are parameters for.
func (g *graph) resnet(x images) rows {
	x = g.normalised(x, "backbone.conv1", "backbone.bn1", 2, 3)
	x.name = g.node("Relu", []string{x.name})
	x.name = g.node("MaxPool", []string{x.name}, ints("kernel_shape", 3, 3), ints("strides", 2, 2), ints("pads", 1, 1, 1, 1))
	x.height, x.width = strided(x.height, 3, 2, 1), strided(x.width, 3, 2, 1)
	for layer := 1; layer <= 4; layer++ {
		for i := 0; i == 0 || g.has(fmt.Sprintf("backbone.layer%d.%d.conv1.weight", layer, i)); i++ {
			stride := 1
			if layer > 1 && i == 0 {
				stride = 2
			}
			x = g.block(x, fmt.Sprintf("backbone.layer%d.%d", layer, i), stride)
		}
	}
	average := g.node("GlobalAveragePool", []string{x.name})
	return rows{g.node("Flatten", []string{average}, integer("axis", 1)), x.channels}
}

// block appends a residual block: two convolutions of 3×3, of which the first has the
// stride, or three of 1×1, 3×3 and 1×1, of which the second has it.
func (g *graph) block(x images, name string, stride int) images {
	strides, paddings := []int{stride, 1}, []int{1, 1}
	if g.has(name + ".conv3.weight") {
		strides, paddings = []int{1, stride, 1}, []int{0, 1, 0}
	}
	y := x
	for i, stride := range strides {
		if i > 0 {
			y.name = g.node("Relu", []string{y.name})
		}
		y = g.normalised(y, fmt.Sprintf("%s.conv%d", name, i+1), fmt.Sprintf("%s.bn%d", name, i+1), stride, paddings[i])
	}
	if g.has(name + ".downsample.0.weight") {
		x = g.normalised(x, name+".downsample.0", name+".downsample.1", stride, 0)
	}
	y.name = g.node("Relu", []string{g.node("Add", []string{y.name, x.name})})
	return y
}

// normalised appends a convolution without bias and its batch normalisation.
func (g *graph) normalised(x images, convolution, norm string, stride, padding int) images {
	x = g.convolution(x, convolution, false, stride, padding)
	inputs := []string{x.name}
	for _, statistic := range []string{"weight", "bias", "running_mean", "running_var"} {
		inputs = append(inputs, g.parameter(norm+"."+statistic, x.channels))
	}
	x.name = g.node("BatchNormalization", inputs, real("epsilon", 1e-5))
	return x
}

// convolution appends a convolution with a square kernel.
func (g *graph) convolution(x images, name string, bias bool, stride, padding int) images {
	shape := g.shape(name+".weight", 4)
	out, kernel := shape[0], shape[2]
	inputs := []string{x.name, g.parameter(name+".weight", out, x.channels, kernel, kernel)}
	if bias {
		inputs = append(inputs, g.parameter(name+".bias", out))
	}
	return images{
		name: g.node("Conv", inputs, ints("kernel_shape", kernel, kernel), ints("strides", stride, stride),
			ints("pads", padding, padding, padding, padding)),
		channels: out,
		height:   strided(x.height, kernel, stride, padding),
		width:    strided(x.width, kernel, stride, padding),
	}
}

// strided returns how often a kernel fits a side.
func strided(side, kernel, stride, padding int) int { return (side+2*padding-kernel)/stride + 1 }

// linearAs appends a linear layer whose result has a name.
func (g *graph) linearAs(x rows, name, output string) rows {
	output = g.prefix + output
	out := g.shape(name+".weight", 2)[0]
	inputs := []string{x.name, g.parameter(name+".weight", out, x.size), g.parameter(name+".bias", out)}
	g.nodeAs("Gemm", inputs, output, integer("transB", 1))
	return rows{output, out}
}

// activeAs appends a linear layer and ReLU, whose result has a name.
func (g *graph) activeAs(x rows, name, output string) rows {
	linear := g.linearAs(x, name, output+".linear")
	active := rows{g.prefix + output, linear.size}
	g.nodeAs("Relu", []string{linear.name}, active.name)
	return active
}
