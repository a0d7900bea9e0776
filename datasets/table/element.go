package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"iwda/internal/convert"
)

// element is the type of an array's elements, as NumPy describes it: a letter of b, i, u,
// f, U (text of four bytes a character) and S (text of one byte a character), and the number of bytes.
type element struct {
	letter byte
	size   int
}

// maxText bounds the bytes of a text: a row of texts is held whole.
const maxText = 1 << 16

// parseElement reads a description such as "<f4" or "|S10".
func parseElement(descr string) (element, error) {
	if strings.HasSuffix(descr, "O") {
		return element{}, errors.New("the elements are Python objects, which only Python can read; save them with astype(str), None replaced by '' before, or as numbers")
	}
	if len(descr) < 3 {
		return element{}, fmt.Errorf("elements of type %.100q", descr)
	}
	order, letter := descr[0], descr[1]
	size, err := strconv.Atoi(descr[2:])
	if letter == 'U' && size <= maxText {
		size *= 4
	}
	switch {
	case err != nil || size <= 0 || !slices.Contains(sizes[letter], size) && (size > maxText || letter != 'U' && letter != 'S'):
		return element{}, fmt.Errorf("elements of type %.100q; want numbers or texts", descr)
	case order == '>' && size > 1 && letter != 'S':
		return element{}, fmt.Errorf("elements of type %.100q have their highest byte first; save them with astype('<%.10s')", descr, descr[1:])
	case !strings.ContainsRune("<|>", rune(order)):
		return element{}, fmt.Errorf("elements of type %.100q; want numbers or texts", descr)
	}
	return element{letter, size}, nil
}

// sizes are those of numbers.
var sizes = map[byte][]int{'b': {1}, 'i': {1, 2, 4, 8}, 'u': {1, 2, 4, 8}, 'f': {2, 4, 8}}

// number reports whether the elements are numbers, or truth values, which are 0 and 1.
func (e element) number() bool { return e.letter != 'U' && e.letter != 'S' }

// single reports whether the elements are floating-point numbers of 32 bits or fewer.
func (e element) single() bool { return e.letter == 'f' && e.size < 8 }

// String is NumPy's name of the type.
func (e element) String() string {
	switch e.letter {
	case 'b':
		return "bool"
	case 'U', 'S':
		return "text"
	}
	return fmt.Sprintf("%s%d", map[byte]string{'i': "int", 'u': "uint", 'f': "float"}[e.letter], 8*e.size)
}

// wide is the number that src begins with.
func (e element) wide(src []byte) float64 {
	switch {
	case e.letter == 'i':
		return float64(int64(e.bits(src)))
	case e.letter != 'f':
		return float64(e.bits(src))
	case e.size == 2:
		return float64(half(binary.LittleEndian.Uint16(src)))
	case e.size == 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(src)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(src))
}

// floats converts the numbers in src to dst, which has room for exactly these. src may lie
// at any address. Numbers of rows are less their origins, if there are any.
func (e element) floats(dst []float32, src []byte, origins []float64) {
	if littleEndian && origins == nil && e.letter == 'f' && e.size == 4 {
		copy(convert.Bytes(dst), src)
		return
	}
	for i := range dst {
		number := e.wide(src[i*e.size:])
		if origins != nil {
			number -= origins[i%len(origins)]
		}
		dst[i] = float32(number)
	}
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// half is a number of float16.
func half(bits uint16) float32 {
	sign, rest := uint32(bits>>15)<<31, uint32(bits&0x7fff)<<13
	switch rest >> 23 { // the exponent
	case 0:
		return math.Float32frombits(sign | math.Float32bits(float32(rest)*0x1p-37))
	case 31: // infinite, or no number
		rest |= 0xff << 23
	default:
		rest += 112 << 23
	}
	return math.Float32frombits(sign | rest)
}

// text returns an element as a text: an integer in decimal digits, also where it is stored
// as a floating-point number, as pandas stores integers of which some are unknown, and
// nothing for NaN.
func (e element) text(src []byte) (string, error) {
	switch e.letter {
	case 'f':
		return wholeText(e.wide(src))
	case 'U':
		return wideText(src)
	case 'S':
		text := strings.TrimRight(string(src), "\x00")
		if !utf8.ValidString(text) {
			return "", errors.New("text that is not UTF-8")
		}
		return text, nil
	case 'u':
		return strconv.FormatUint(e.bits(src), 10), nil
	}
	return strconv.FormatInt(int64(e.bits(src)), 10), nil
}

// bits returns an integer, extended by its sign where it has one.
func (e element) bits(src []byte) (bits uint64) {
	switch e.size {
	case 1:
		bits = uint64(src[0])
	case 2:
		bits = uint64(binary.LittleEndian.Uint16(src))
	case 4:
		bits = uint64(binary.LittleEndian.Uint32(src))
	default:
		bits = binary.LittleEndian.Uint64(src)
	}
	if e.letter == 'i' {
		above := 64 - 8*e.size
		bits = uint64(int64(bits<<above) >> above)
	}
	return bits
}

// wholeText returns a whole number in digits, and nothing for NaN.
func wholeText(value float64) (string, error) {
	const exact = 1 << 53
	switch {
	case math.IsNaN(value):
		return "", nil
	case value != math.Trunc(value) || math.Abs(value) > exact:
		return "", fmt.Errorf("%v is no whole number", value)
	}
	return strconv.FormatInt(int64(value), 10), nil
}

// wideText decodes characters of four bytes, which zeros fill up.
func wideText(src []byte) (string, error) {
	var text strings.Builder
	zeros := 0
	for i := 0; i+4 <= len(src); i += 4 {
		code := binary.LittleEndian.Uint32(src[i:])
		if code == 0 {
			zeros++
			continue
		}
		if code > utf8.MaxRune || !utf8.ValidRune(rune(code)) {
			return "", fmt.Errorf("text with the character %#x, which there is not", code)
		}
		for ; zeros > 0; zeros-- {
			text.WriteByte(0)
		}
		text.WriteRune(rune(code))
	}
	return text.String(), nil
}
