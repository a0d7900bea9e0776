package nets

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"iwda/internal/input"
	"iwda/torch"
)

// writeModule says how a backbone is written.
const writeModule = "write one in PyTorch with torch.jit.script(module).save(path)"

// TorchScript is a backbone that PyTorch wrote as a TorchScript module, which maps a
// batch to features: any network, under its own names.
type TorchScript struct {
	module      *torch.Module
	state       State
	featureSize int
}

// NewTorchScript loads a backbone from a file of torch.jit.save. Its size of features is
// found by a batch of zeros, of rows of that shape, such as 3, 224, 224. Where it is to be
// trained it must have parameters, and all of them are. Errors say what the file, or the
// module in it, should be instead; where there is no file, they are [fs.ErrNotExist].
//
// A module is a program, which libtorch interprets. So permit, if it is not nil, is asked before by
// the file and the SHA-256 of its content, and its error is returned. The file is read once: what was
// asked about is what runs.
func NewTorchScript(path string, rowShape []int, trained bool, permit func(file *os.File, sum string) error) (n *TorchScript, sum string, err error) {
	file, err := input.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("%w; %s", err, writeModule)
	} else if err != nil {
		return nil, "", err
	}
	defer file.Close()
	content, err := input.ReadAll(file, input.Tensors)
	if err != nil {
		return nil, "", err
	}
	sum = fmt.Sprintf("%x", sha256.Sum256(content))
	if permit != nil {
		if err := permit(file, sum); err != nil {
			return nil, "", err
		}
	}
	n, err = parseTorchScript(content, rowShape, trained)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return n, sum, nil
}

func parseTorchScript(content []byte, rowShape []int, trained bool) (*TorchScript, error) {
	module, err := torch.ParseModule(content)
	if err != nil {
		return nil, fmt.Errorf("not a TorchScript module: %w; %s", err, writeModule)
	}
	n := &TorchScript{module: module}
	if n.featureSize, err = n.probe(rowShape); err != nil {
		return nil, err
	}
	for _, t := range module.Tensors() {
		n.state = append(n.state, Entry{t.Name, torch.Keep(t.Tensor), t.Parameter})
	}
	parameters := n.state.Parameters()
	if trained && len(parameters) == 0 {
		return nil, errors.New("the module has no parameters that could be trained, as after torch.jit.freeze; save it without, or keep it frozen")
	}
	for _, p := range parameters {
		p.SetRequiresGrad(trained)
	}
	return n, nil
}

// probe returns the number of features of two rows of zeros.
func (n *TorchScript) probe(rowShape []int) (features int, err error) {
	torch.Tidy(func() {
		torch.NoGrad(func() {
			rows := torch.Full(0, torch.Float32, torch.CPU, append([]int{2}, rowShape...)...)
			var shape []int
			if refused := torch.Try(func() { shape = n.module.Forward(rows, false).Shape() }); refused != nil {
				err = fmt.Errorf("the module does not take rows of shape %v: %w", rowShape, refused)
				return
			}
			if len(shape) != 2 || shape[0] != 2 {
				err = fmt.Errorf("the module makes a tensor of shape %v of two rows of shape %v; want (2 × features): end it with pooling and flatten",
					shape, rowShape)
				return
			}
			features = shape[1]
		})
	})
	return features, err
}

// Forward maps rows of the shape that [NewTorchScript] was told to features
// (rows × FeatureSize). What torch.jit.trace wrote keeps the mode in which it was traced.
func (n *TorchScript) Forward(x torch.Tensor, training bool) torch.Tensor {
	return n.module.Forward(x, training)
}

// FeatureSize returns the number of features of a row.
func (n *TorchScript) FeatureSize() int { return n.featureSize }

// State returns the module's parameters and then its buffers, under its own names.
func (n *TorchScript) State() State { return slices.Clone(n.state) }
