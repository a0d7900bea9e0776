package nets

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"reflect"

	"github.com/wangkuiyi/gotorch/nn"
	"github.com/wangkuiyi/gotorch/nn/initializer"
	"github.com/wangkuiyi/gotorch/vision/models"

	"iwda/nets/architecture"
	"iwda/nets/statedict"
	"iwda/torch"
)

// ResNet is a residual network (He et al. 2016) without its classifier: the backbone
// of the image experiments. It maps images to the averages of its last channels.
// Parameters and buffers carry torchvision's names.
type ResNet struct {
	depth       int
	stem        convolution
	stages      [4][]block
	featureSize int
}

var (
	basicBlockType = reflect.TypeFor[models.BasicBlockModule]()
	bottleneckType = reflect.TypeFor[models.BottleneckModule]()
)

// resnets holds what differs between the depths: the blocks of each stage.
var resnets = map[int]struct {
	block  reflect.Type
	blocks []int64
}{
	18:  {basicBlockType, []int64{2, 2, 2, 2}},
	34:  {basicBlockType, []int64{3, 4, 6, 3}},
	50:  {bottleneckType, []int64{3, 4, 6, 3}},
	101: {bottleneckType, []int64{3, 4, 23, 3}},
	152: {bottleneckType, []int64{3, 8, 36, 3}},
}

// NewResNet returns a ResNet of 18, 34, 50, 101 or 152 layers; another depth is an
// error. Weights are initialised for training from scratch as torchvision does:
// convolutions from N(0, 2/(outputs·kernel height·kernel width)), drawn from
// libtorch's generator, normalisations 1, their biases 0.
func NewResNet(depth int) (*ResNet, error) {
	family, ok := resnets[depth]
	if !ok {
		return nil, fmt.Errorf("there is no ResNet of %d layers: want 18, 34, 50, 101 or 152", depth)
	}
	const classes, groups, groupWidth = 1, 1, 64
	// The module's classifier is not used.
	m := models.Resnet(family.block, family.blocks, classes, false, groups, groupWidth)
	n := &ResNet{depth: depth, stem: newConvolution(m.C1, m.BN1), featureSize: torch.Wrap(m.FC.Weight).Shape()[1]}
	for i, stage := range []*nn.SequentialModule{m.L1, m.L2, m.L3, m.L4} {
		for _, module := range stage.Modules {
			n.stages[i] = append(n.stages[i], newBlock(module))
		}
	}
	return n, nil
}

// Forward maps images, shape (rows × 3 × height × width), to features
// (rows × FeatureSize). Training normalises with the statistics of the batch, in
// which all rows take part, and updates the running ones.
func (n *ResNet) Forward(images torch.Tensor, training bool) torch.Tensor {
	images = images.ChannelsLast()
	stem := n.stem.forward(images, training).ReLUInPlace()
	x := stem.MaxPool2D(3, 2, 1)
	images.Release()
	stem.Release()
	for _, stage := range n.stages {
		for _, b := range stage {
			next := b.forward(x, training)
			x.Release()
			x = next
		}
	}
	defer x.Release()
	return x.GlobalAveragePool2D()
}

// FeatureSize returns 512 for 18 and 34 layers, 2048 for more.
func (n *ResNet) FeatureSize() int { return n.featureSize }

// State returns parameters and buffers in torchvision's order, from conv1.weight on;
// the classifier's, fc.weight and fc.bias, are not among them.
func (n *ResNet) State() State {
	state := n.stem.state("conv1", "bn1")
	for i, stage := range n.stages {
		for j, b := range stage {
			state = append(state, b.state().Prefixed(fmt.Sprintf("layer%d.%d", i+1, j))...)
		}
	}
	return state
}

// block is a residual block: two or three convolutions, to whose result the input is
// added, where shapes differ through a convolution of its own.
type block struct {
	convolutions []convolution
	shortcut     *convolution
}

func newBlock(module nn.IModule) block {
	var b block
	var downsample *nn.SequentialModule
	switch m := module.(type) {
	case *models.BasicBlockModule:
		b.convolutions = []convolution{newConvolution(m.C1, m.BN1), newConvolution(m.C2, m.BN2)}
		downsample = m.Downsample
	case *models.BottleneckModule:
		b.convolutions = []convolution{newConvolution(m.C1, m.BN1), newConvolution(m.C2, m.BN2), newConvolution(m.C3, m.BN3)}
		downsample = m.Downsample
	}
	if downsample != nil {
		c := newConvolution(downsample.Modules[0].(*nn.Conv2dModule), downsample.Modules[1].(*nn.BatchNorm2dModule))
		b.shortcut = &c
	}
	return b
}

func (b block) forward(input torch.Tensor, training bool) torch.Tensor {
	residual := input
	if b.shortcut != nil {
		residual = b.shortcut.forward(input, training)
		defer residual.Release()
	}
	x := b.convolutions[0].forward(input, training)
	for _, c := range b.convolutions[1:] {
		next := c.forward(x.ReLUInPlace(), training)
		x.Release()
		x = next
	}
	return x.AddInPlace(residual).ReLUInPlace()
}

func (b block) state() State {
	var state State
	for i, c := range b.convolutions {
		state = append(state, c.state(fmt.Sprintf("conv%d", i+1), fmt.Sprintf("bn%d", i+1))...)
	}
	if b.shortcut != nil {
		state = append(state, b.shortcut.state("downsample.0", "downsample.1")...)
	}
	return state
}

// convolution is a convolution without bias, followed by batch normalisation.
type convolution struct {
	weight          torch.Tensor
	stride, padding int
	scale, shift    torch.Tensor
	running         torch.RunningStatistics
	batches         torch.Tensor // how many updated the running statistics
	epsilon         float64
}

// newConvolution takes over the modules' tensors. gotorch draws the weight as
// PyTorch's bare Conv2d does, uniformly and scaled by the inputs; torchvision's
// ResNet draws it anew, and so does this.
func newConvolution(c *nn.Conv2dModule, n *nn.BatchNorm2dModule) convolution {
	fanOut := c.OutChannels * c.KernelSize * c.KernelSize
	initializer.Normal(&c.Weight, 0, math.Sqrt(2/float64(fanOut)))
	return convolution{
		weight: torch.Wrap(c.Weight), stride: int(c.Stride), padding: int(c.Padding),
		scale: torch.Wrap(n.Weight), shift: torch.Wrap(n.Bias),
		running: torch.RunningStatistics{
			Mean: torch.Wrap(n.RunningMean), Variance: torch.Wrap(n.RunningVar), Momentum: n.Momentum,
		},
		batches: torch.Keep(torch.Full(0, torch.Int64, torch.CPU)),
		epsilon: n.Eps,
	}
}

// forward gives intermediate results back at once: those that the backward pass
// needs live on in the graph.
func (c convolution) forward(x torch.Tensor, training bool) torch.Tensor {
	y := x.Conv2D(c.weight, torch.Tensor{}, c.stride, c.padding)
	defer y.Release()
	if training {
		c.batches.Increment()
	}
	return y.BatchNorm(c.scale, c.shift, c.running, c.epsilon, training)
}

func (c convolution) state(conv, norm string) State {
	return State{
		{conv + ".weight", c.weight, true},
		{norm + ".weight", c.scale, true},
		{norm + ".bias", c.shift, true},
		{norm + ".running_mean", c.running.Mean, false},
		{norm + ".running_var", c.running.Variance, false},
		{norm + ".num_batches_tracked", c.batches, false},
	}
}

// readBackbone reads tensors by their names onto the CPU, and the file's SHA-256; see [statedict.Backbone].
func readBackbone(path string) (values map[string]torch.Tensor, sha256Sum string, err error) {
	entries, sum, err := statedict.Backbone(path)
	if err != nil {
		return nil, "", err
	}
	if values, err = torch.TensorsOf(entries); err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return values, sum, nil
}

// LoadWeights loads torchvision's weights for this depth from a file as
// [statedict.Read] reads it, and returns the file's SHA-256. The file's classifier,
// fc.weight and fc.bias, is left out where it is there; counters of batches, which
// older files lack, become 0 where they are not. All other names and shapes must fit, or
// it returns a [*MismatchError]. Where there is no file, the error, which is
// [fs.ErrNotExist], says where to get it.
func (n *ResNet) LoadWeights(path string) (sha256Sum string, err error) {
	torch.Tidy(func() {
		var values map[string]torch.Tensor
		if values, sha256Sum, err = readBackbone(path); err != nil {
			return
		}
		if err = n.State().Load(values); err != nil {
			sha256Sum, err = "", fmt.Errorf("%s: %w", path, err)
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; the weights of ResNet-%d are in torchvision's model zoo: %s", err, n.depth, architecture.WeightsURL(architecture.Name(fmt.Sprint("resnet", n.depth))))
	}
	return sha256Sum, err
}
