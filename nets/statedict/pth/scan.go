package pth

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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
