package pth

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/maruel/safetensors"
	"github.com/nlpodyssey/gopickle/pickle"
	"github.com/nlpodyssey/gopickle/types"
)

// unpickle runs the pickle at the start of data and returns what follows it.
// Persistent is what the file's form makes of a persistent identifier, nil where it
// has none.
func unpickle(data []byte, persistent func(id any) (any, error)) (value any, rest []byte, err error) {
	checked, rest, err := cutPickle(data)
	if err != nil {
		return nil, nil, err
	}
	u := pickle.NewUnpickler(bytes.NewReader(checked))
	u.FindClass = func(module, name string) (any, error) { return class(strings.TrimPrefix(module, "."), name) }
	u.PersistentLoad = persistent
	if value, err = load(&u); err != nil {
		// Some of gopickle's messages print whole lists.
		return nil, nil, fmt.Errorf("damaged pickle: %.500s", err)
	}
	return value, rest, nil
}

// load runs the pickle. Gopickle's machine panics on some damaged ones, such as a
// dictionary of a key without a value.
func load(u *pickle.Unpickler) (value any, err error) {
	defer func() {
		if damage := recover(); damage != nil {
			value, err = nil, fmt.Errorf("%v", damage)
		}
	}()
	return u.Load()
}

// class is the list of what a pickle may name.
func class(module, name string) (any, error) {
	switch full := module + "." + name; full {
	case "collections.OrderedDict":
		return function(newDictionary), nil
	case "torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2":
		return function(rebuildTensor), nil
	case "torch._utils._rebuild_parameter", "torch.nn.parameter.Parameter":
		return function(newParameter), nil
	}
	if module == "torch" || module == "torch.cuda" {
		for _, c := range storageClasses {
			if name == c.name {
				return c, nil
			}
		}
	}
	return nil, fmt.Errorf("the file wants the class %.100q of module %.100q, which no state dictionary of a network needs; nothing was executed", name, module)
}

// storageClass is the type of a storage's numbers.
type storageClass struct {
	name     string
	size     int // bytes a number
	elements safetensors.DType
}

var storageClasses = []storageClass{
	{"FloatStorage", 4, safetensors.F32}, {"DoubleStorage", 8, safetensors.F64}, {"LongStorage", 8, safetensors.I64}, {"ByteStorage", 1, safetensors.U8},
}

// function is a class or function that a pickle may call.
type function func(arguments []any) (any, error)

// Call implements gopickle's types.Callable.
func (f function) Call(arguments ...any) (any, error) { return f(arguments) }

// PyNew implements gopickle's types.PyNewable, for classes that pickles instantiate.
func (f function) PyNew(arguments ...any) (any, error) { return f(arguments) }

// rebuildTensor takes storage, offset, shape and strides, and more that does not
// matter here.
func rebuildTensor(arguments []any) (any, error) {
	if len(arguments) < 4 {
		return nil, fmt.Errorf("a tensor of %d arguments", len(arguments))
	}
	s, isStorage := arguments[0].(*storage)
	offset, isInt := arguments[1].(int)
	shape, shapeIs := intsOf(arguments[2])
	stride, strideIs := intsOf(arguments[3])
	if !isStorage || !isInt || !shapeIs || !strideIs {
		return nil, errors.New("a tensor of arguments of other types")
	}
	return newView(s, offset, shape, stride)
}

func intsOf(value any) ([]int, bool) {
	tuple, ok := value.(*types.Tuple)
	if !ok {
		return nil, false
	}
	ints := make([]int, tuple.Len())
	for i := range ints {
		if ints[i], ok = tuple.Get(i).(int); !ok {
			return nil, false
		}
	}
	return ints, true
}

// parameter is a tensor that was saved as a parameter of a module.
type parameter struct{ view *view }

func newParameter(arguments []any) (any, error) {
	p := new(parameter)
	if len(arguments) > 0 {
		p.view, _ = arguments[0].(*view)
	}
	return p, nil
}

// PySetState implements gopickle's types.PyStateSettable. Of the states that PyTorch
// gave parameters, the longer one begins with the tensor.
func (p *parameter) PySetState(state any) error {
	if tuple, ok := state.(*types.Tuple); ok && tuple.Len() == 5 {
		p.view, _ = tuple.Get(0).(*view)
	}
	return nil
}

// dictionary is collections.OrderedDict.
type dictionary struct {
	entries []entry
	unnamed bool // a key is no string
}

type entry struct {
	key   string
	value any
}

// newDictionary takes nothing or, as Python 2 wrote it, a list of pairs.
func newDictionary(arguments []any) (any, error) {
	d := &dictionary{}
	if len(arguments) == 0 {
		return d, nil
	}
	pairs, ok := arguments[0].(*types.List)
	if !ok {
		return nil, errors.New("a dictionary of something other than pairs")
	}
	for _, pair := range *pairs {
		list, ok := pair.(*types.List)
		if !ok || list.Len() != 2 {
			return nil, errors.New("a dictionary of something other than pairs")
		}
		d.Set(list.Get(0), list.Get(1))
	}
	return d, nil
}

// Set implements gopickle's types.DictSetter.
func (d *dictionary) Set(key, value any) {
	name, ok := key.(string)
	if !ok {
		d.unnamed = true
		return
	}
	d.entries = append(d.entries, entry{name, value})
}

// PySetState implements gopickle's types.PyStateSettable: the attributes of a state
// dictionary are the versions of its modules.
func (d *dictionary) PySetState(any) error { return nil }

// entriesOf returns the entries of a file's dictionary.
func entriesOf(value any) ([]entry, error) {
	d, ok := value.(*dictionary)
	if plain, isPlain := value.(*types.Dict); isPlain {
		d, ok = &dictionary{}, true
		for _, e := range *plain {
			d.Set(e.Key, e.Value)
		}
	}
	if !ok || d.unnamed {
		return nil, errors.New("the file holds no dictionary of tensors by their names")
	}
	return d.entries, nil
}
