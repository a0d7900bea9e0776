package nets

import (
	"errors"
	"fmt"
	"io/fs"

	"iwda/nets/architecture"
	"iwda/nets/statedict"
	"iwda/torch"
)

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
