package nets

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"iwda/internal/input"
	"iwda/nets/architecture"
	"iwda/nets/internal/pth"
	"iwda/torch"
)

// ReadStateDict reads tensors by their names onto the CPU from a .safetensors file or
// from a .pth file of torch.save of any year, and the file's SHA-256 in hexadecimal.
// It tells the formats apart by their content. Nothing of a .pth file is executed: a
// class that no state dictionary needs is an error that names it.
func ReadStateDict(path string) (values map[string]torch.Tensor, sha256Sum string, err error) {
	data, err := input.Read(path, input.Tensors)
	if err != nil {
		return nil, "", err
	}
	if refused := torch.Try(func() { values, err = parseStateDict(data) }); refused != nil {
		err = refused
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return values, fmt.Sprintf("%x", sha256.Sum256(data)), nil
}

func parseStateDict(data []byte) (map[string]torch.Tensor, error) {
	// A safetensors file begins with the length of its header, which is JSON.
	const headerAt = 8
	if len(data) > headerAt && data[headerAt] == '{' {
		values, _, err := torch.ParseTensors(data)
		return values, err
	}
	tensors, err := pth.Read(data)
	if err != nil {
		return nil, err
	}
	values := make(map[string]torch.Tensor, len(tensors))
	for name, t := range tensors {
		switch v := t.Values.(type) {
		case []float32:
			values[name] = torch.FromSlice(v, t.Shape...)
		case []float64:
			values[name] = torch.FromSlice(v, t.Shape...)
		case []int64:
			values[name] = torch.FromSlice(v, t.Shape...)
		case []uint8:
			values[name] = torch.FromSlice(v, t.Shape...)
		}
	}
	return values, nil
}

// LoadWeights loads torchvision's weights for this depth from a file as
// [ReadStateDict] reads it, and returns the file's SHA-256. The file's classifier,
// fc.weight and fc.bias, is left out where it is there; counters of batches, which
// older files lack, become 0 where they are not. All other names and shapes must fit, or
// it returns a [*MismatchError]. Where there is no file, the error, which is
// [fs.ErrNotExist], says where to get it.
func (n *ResNet) LoadWeights(path string) (sha256Sum string, err error) {
	torch.Tidy(func() {
		var values map[string]torch.Tensor
		if values, sha256Sum, err = ReadStateDict(path); err != nil {
			return
		}
		delete(values, "fc.weight")
		delete(values, "fc.bias")
		state := n.State()
		for _, e := range state {
			if _, ok := values[e.Name]; !ok && strings.HasSuffix(e.Name, ".num_batches_tracked") {
				values[e.Name] = torch.Full(0, torch.Int64, torch.CPU)
			}
		}
		if err = state.Load(values); err != nil {
			sha256Sum, err = "", fmt.Errorf("%s: %w", path, err)
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; the weights of ResNet-%d are in torchvision's model zoo: %s", err, n.depth, architecture.WeightsURL(architecture.Name(fmt.Sprint("resnet", n.depth))))
	}
	return sha256Sum, err
}
