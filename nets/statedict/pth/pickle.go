package pth

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/maruel/safetensors"
	"github.com/nlpodyssey/gopickle/pickle"
	"github.com/nlpodyssey/gopickle/types"
)

// maxPickle bounds a pickle, not the numbers, which lie outside it. A ResNet of 152
// layers takes some 150 kB; the machine's memory is a few hundred times a pickle's.
const maxPickle = 1 << 20

// The length of an opcode's argument where it is not a number of bytes.
const (
	lengthByte = -1 - iota // a byte tells the length
	lengthInt              // four bytes tell it
	twoLines               // a module and a name
)

// arguments holds every opcode that torch.save writes, which is those of pickle
// protocol 2, and the length of its argument.
var arguments = map[byte]int{
	'\x80': 1,                       // PROTO
	'(':    0,                       // MARK
	'.':    0,                       // STOP
	'N':    0, '\x88': 0, '\x89': 0, // NONE, NEWTRUE, NEWFALSE
	'K': 1, 'M': 2, 'J': 4, '\x8a': lengthByte, // BININT1, BININT2, BININT, LONG1
	'G': 8,                                          // BINFLOAT
	'U': lengthByte, 'T': lengthInt, 'X': lengthInt, // SHORT_BINSTRING, BINSTRING, BINUNICODE
	')': 0, 't': 0, '\x85': 0, '\x86': 0, '\x87': 0, // EMPTY_TUPLE, TUPLE, TUPLE1 to TUPLE3
	']': 0, 'a': 0, 'e': 0, // EMPTY_LIST, APPEND, APPENDS
	'}': 0, 's': 0, 'u': 0, // EMPTY_DICT, SETITEM, SETITEMS
	'q': 1, 'r': 4, 'h': 1, 'j': 4, // BINPUT, LONG_BINPUT, BINGET, LONG_BINGET
	'0': 0, '2': 0, // POP, DUP
	'c': twoLines,                     // GLOBAL
	'R': 0, '\x81': 0, 'b': 0, 'Q': 0, // REDUCE, NEWOBJ, BUILD, BINPERSID
}

// cutPickle returns the pickle at the start of data and what follows it, before any
// of it is run: no opcode is unknown, no length reaches past the end, no class is
// outside the list. In the copy every module's name begins with a dot, because
// gopickle knows some classes of its own that it would not ask for.
func cutPickle(data []byte) (pickle, rest []byte, err error) {
	var checked bytes.Buffer
	for at := 0; at < len(data); {
		if at > maxPickle {
			return nil, nil, fmt.Errorf("a pickle of more than %d bytes is no state dictionary", maxPickle)
		}
		opcode := data[at]
		length, known := arguments[opcode]
		if !known {
			return nil, nil, fmt.Errorf("no state dictionary of pickle protocol 2, which torch.save writes unless told otherwise: opcode %#x at byte %d of a pickle", opcode, at)
		}
		if length == twoLines {
			module, name, size, err := cutLines(data[at+1:])
			if err != nil {
				return nil, nil, err
			}
			if _, err := class(module, name); err != nil {
				return nil, nil, err
			}
			fmt.Fprintf(&checked, "c.%s\n%s\n", module, name)
			at += 1 + size
			continue
		}
		argument := data[at+1:]
		switch {
		case length == lengthByte && len(argument) > 0:
			length = 1 + int(argument[0])
		case length == lengthInt && len(argument) >= 4:
			length = 4 + int(binary.LittleEndian.Uint32(argument))
		}
		if length < 0 || length > len(argument) {
			return nil, nil, fmt.Errorf("a pickle breaks off: %w", io.ErrUnexpectedEOF)
		}
		checked.Write(data[at : at+1+length])
		at += 1 + length
		if opcode == '.' {
			return checked.Bytes(), data[at:], nil
		}
	}
	return nil, nil, fmt.Errorf("a pickle breaks off: %w", io.ErrUnexpectedEOF)
}

func cutLines(data []byte) (module, name string, size int, err error) {
	const longest = 1000
	data = data[:min(len(data), longest)]
	first, rest, found := bytes.Cut(data, []byte("\n"))
	second, rest, foundToo := bytes.Cut(rest, []byte("\n"))
	if !found || !foundToo {
		return "", "", 0, errors.New("the name of a class breaks off")
	}
	return string(first), string(second), len(data) - len(rest), nil
}

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
