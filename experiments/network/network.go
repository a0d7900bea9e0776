// Package network makes the networks of models and passes rows through them. It is the part of
// applying models that loads libtorch.
package network

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/engine"
	"iwda/experiments/model"
	"iwda/internal/input"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/nets/statedict"
	"iwda/torch"
)

// New makes the network that a model describes, on the CPU, and gives it the model's weights. Weights that are not
// its are an error that names them. So is the module of torchscript if it is not the one that the model
// describes, or has another SHA-256 than the one that is allowed: it does not run then.
func New(m model.Model, allowed string) (network nets.Network, err error) {
	settings := nets.Settings{
		Classes: len(m.Classes), Frozen: m.Architecture.Frozen,
		RowShape: m.Input.Shape, HiddenLayers: m.Architecture.HiddenLayers, HiddenSize: m.Architecture.HiddenSize,
	}
	backbone := m.Architecture.Backbone
	if backbone != nil {
		settings.Weights = backbone.File
		settings.Permit = func(_ *os.File, sum string) error {
			if sum != allowed {
				return input.Wrong(fmt.Errorf("%s is a TorchScript module, a program, and not the one that may run (SHA-256 %s)", backbone.File, sum))
			}
			return backbone.Check(sum)
		}
	}
	torch.Tidy(func() {
		var sum string
		if network, sum, err = nets.New(m.Architecture.Name, settings); err != nil {
			return
		}
		if backbone != nil {
			if err = backbone.Check(sum); err != nil {
				return
			}
		}
		state := network.State()
		inFile := func(e nets.Entry) bool { return statedict.Find(m.Weights, e.Name) != nil }
		if frozen, ok := network.(*nets.Frozen); ok && backbone != nil && !slices.ContainsFunc(frozen.Backbone(), inFile) {
			state = frozen.Head() // the backbone's are those of its file
		}
		if err = Load(state, m.Weights); err != nil {
			err = fmt.Errorf("the weights of %s: %w", m.Folder, err)
		}
	})
	return network, err
}

// Load loads numbers into a state; see [nets.State.Load].
func Load(state nets.State, weights []statedict.Tensor) error {
	values, err := torch.TensorsOf(weights)
	if err != nil {
		return err
	}
	return state.Load(values)
}

// Ensemble are networks of models that predict together.
type Ensemble struct {
	members []member
	device  torch.Device
	threads int // of libtorch
}

type member struct {
	model.Model
	network nets.Network
}

// Open opens the models of folders and makes their networks on a device, with the SHA-256 of the module of each
// that may run, or "". Those with the same frozen backbone have it once.
func Open(folders, modules []string, device torch.Device, threads int) (*Ensemble, error) {
	e := &Ensemble{device: device, threads: threads}
	for i, folder := range folders {
		of, err := model.OpenUnasked(folder)
		if err != nil {
			return nil, err
		}
		network, err := New(of, modules[i])
		if err != nil {
			return nil, err
		}
		of.Weights = nil // the network has them
		m := member{of, network}
		if i > 0 {
			m.shareBackbone(e.members[0])
		}
		e.members = append(e.members, m)
	}
	for _, m := range e.members {
		m.network.State().Move(torch.Float32, device)
	}
	return e, nil
}

// shareBackbone makes a network use the frozen backbone of another one if it is the same.
func (m member) shareBackbone(other member) {
	frozen, ok := m.network.(*nets.Frozen)
	with, both := other.network.(*nets.Frozen)
	if !ok || !both || m.Architecture.Name != other.Architecture.Name {
		return
	}
	if m.Architecture.Name == architecture.TorchScript && m.Architecture.Backbone.SHA256 != other.Architecture.Backbone.SHA256 {
		return
	}
	torch.Tidy(func() { frozen.ShareBackbone(with) })
}

// tensor is the rows as the network of a member wants them, on the device.
func (e *Ensemble) tensor(r *engine.Rows, m member) torch.Tensor {
	values := r.Values
	if !r.Normalised && m.Normalisation.Kind != normalise.None {
		values = slices.Clone(values)
		m.Normalise(values)
	}
	shape := append([]int{len(values) / datasets.Size(r.Shape)}, r.Shape...)
	return torch.FromSlice(values, shape...).To(torch.Float32, e.device)
}

// each hands every member to f, in a scope of its own and without gradients, and returns the error of libtorch.
func (e *Ensemble) each(of []int, f func(m member)) error {
	runtime.LockOSThread() // libtorch's number of threads and its switch for gradients are a thread's
	defer runtime.UnlockOSThread()
	torch.SetThreads(e.threads)
	return torch.Try(func() {
		torch.NoGrad(func() {
			for _, i := range of {
				torch.Tidy(func() { f(e.members[i]) })
			}
		})
	})
}

// Logits passes rows through each of the networks of their members, and returns their logits, one network after
// the other. What a frozen backbone makes of the rows serves the networks after it that share it.
func (e *Ensemble) Logits(r *engine.Rows) (logits []float32, err error) {
	var pooled torch.Tensor
	var by *member // whose backbone that is of; nil where nothing has been pooled
	err = e.each(r.Members, func(m member) {
		var outputs torch.Tensor
		if frozen, ok := m.network.(*nets.Frozen); ok {
			if by == nil || !m.pools(r, *by) {
				pooled.Release()
				pooled, by = torch.Keep(frozen.Pooled(e.tensor(r, m))), &m
			}
			_, outputs = frozen.OnPooled().Forward(pooled, false)
		} else {
			_, outputs = m.network.Forward(e.tensor(r, m), false)
		}
		logits = append(logits, torch.ToSlice[float32](outputs)...)
	})
	pooled.Release()
	return logits, err
}

// pools reports whether the frozen backbones of both members make the same of rows.
func (m member) pools(r *engine.Rows, other member) bool {
	return m.network.(*nets.Frozen).SharesBackbone(other.network.(*nets.Frozen)) &&
		(r.Normalised || m.Normalisation.SameOnTarget(other.Normalisation))
}
