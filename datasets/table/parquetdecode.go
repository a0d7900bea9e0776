package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// decode returns the n values, none of which is null, that a page's content holds in an encoding
// other than places in a dictionary. There may be more of them. They may lie in the content.
func (l *leaf) decode(code format.Encoding, content []byte, n int) (values encoding.Values, err error) {
	kind := l.column.Type()
	if code == format.RLE && kind.Kind() == parquet.Boolean {
		if content, _, err = prefixed(content); err != nil {
			return values, err
		}
		return bools(content, n)
	}
	method := parquet.LookupEncoding(code)
	to := content
	if !method.CanDecodeInPlace() || code != format.Plain {
		if to, err = l.room(code, content, n); err != nil {
			return values, err
		}
	}
	var offsets []uint32
	if kind.Kind() == parquet.ByteArray {
		l.offsets = resized(l.offsets, n+1)
		offsets = l.offsets
		if len(content) == 0 && n == 0 {
			return encoding.ByteArrayValues(nil, []uint32{0}), nil
		}
	}
	if values, err = kind.Decode(kind.NewValues(to, offsets), content, method); err != nil {
		return values, err
	}
	if got := valuesIn(values, kind); got < n {
		return values, fmt.Errorf("%d values of %d", got, n)
	}
	return values, nil
}

// room returns memory for the values of an encoding that is not read where it lies.
func (l *leaf) room(code format.Encoding, content []byte, n int) ([]byte, error) {
	kind := l.column.Type()
	var err error
	switch code {
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		_, err = afterDeltas(content, n)
	case format.DeltaByteArray: // lengths of what is shared with the value before, and of what follows
		var rest []byte
		if rest, err = afterDeltas(content, n); err == nil {
			_, err = afterDeltas(rest, n)
		}
	case format.ByteStreamSplit:
	default:
		err = fmt.Errorf("the encoding %v, which is not read", code)
	}
	if err != nil {
		return nil, err
	}
	size := kind.EstimateDecodeSize(n, content, parquet.LookupEncoding(code))
	if size < 0 {
		return nil, errors.New("texts of negative lengths")
	}
	if err := l.pass.spend(int64(size)); err != nil {
		return nil, err
	}
	return make([]byte, size), nil
}

// valuesIn is the number of values.
func valuesIn(values encoding.Values, kind parquet.Type) int {
	content, offsets := values.Data()
	switch kind.Kind() {
	case parquet.Boolean:
		return 8 * len(content)
	case parquet.ByteArray:
		return len(offsets) - 1
	case parquet.Int64, parquet.Double:
		return len(content) / 8
	case parquet.Int96:
		return len(content) / 12
	case parquet.FixedLenByteArray:
		return len(content) / max(1, kind.Length())
	}
	return len(content) / 4
}

// bools returns n truth values that are stored as runs.
func bools(content []byte, n int) (encoding.Values, error) {
	each, packed := make([]byte, n), make([]byte, (n+7)/8)
	if err := decodeRuns(each, content, 1); err != nil {
		return encoding.Values{}, err
	}
	for i, bit := range each {
		packed[i/8] |= bit << (i % 8)
	}
	return encoding.BooleanValues(packed), nil
}

// widthOf is the number of bits that levels up to most take.
func widthOf(most int) int { return bits.Len(uint(most)) }

var errFewRuns = errors.New("they end too early")

// decodeRuns fills values with whole numbers of that many bits, 32 at most, in Parquet's hybrid of
// run lengths and packed bits. What runs say beyond the values that are wanted is passed over.
func decodeRuns[T byte | int32](values []T, runs []byte, width int) error {
	for len(values) > 0 {
		head, n := binary.Uvarint(runs)
		if n <= 0 {
			return errFewRuns
		}
		runs = runs[n:]
		length := int(min(head>>1, uint64(len(values))))
		if head&1 == 0 { // one value, so many times
			size := (width + 7) / 8
			if size > len(runs) {
				return errFewRuns
			}
			var wide [4]byte
			copy(wide[:], runs[:size])
			repeat(values[:length], T(binary.LittleEndian.Uint32(wide[:])))
			values, runs = values[length:], runs[size:]
			continue
		}
		// So many groups of eight values, which take width bytes each.
		length = min(8*length, len(values))
		if (length*width+7)/8 > len(runs) {
			return errFewRuns
		}
		unpackBits(values[:length], runs, width)
		values, runs = values[length:], runs[min(uint64(len(runs)), (head>>1)*uint64(width)):]
	}
	return nil
}

// oneRun reports whether runs of bytes begin with one of n times the value, or more.
func oneRun(runs []byte, value byte, n int) bool {
	head, size := binary.Uvarint(runs)
	return size > 0 && size < len(runs) && head&1 == 0 && head>>1 >= uint64(n) && runs[size] == value
}

// unpackBits fills values with numbers of that many bits, the lowest first, which packed holds.
func unpackBits[T byte | int32](values []T, packed []byte, width int) {
	const word = 8 // bytes that hold a number, wherever in a byte it begins
	mask := uint64(1)<<width - 1
	at := 0 // the bit at which the next number begins
	for i := range values {
		if at/8+word > len(packed) {
			var end [word]byte
			copy(end[:], packed[at/8:])
			values[i] = T(binary.LittleEndian.Uint64(end[:]) >> (at % 8) & mask)
		} else {
			values[i] = T(binary.LittleEndian.Uint64(packed[at/8:]) >> (at % 8) & mask)
		}
		at += width
	}
}

// repeat fills values with one of them, by copies that double.
func repeat[T byte | int32](values []T, value T) {
	const first = 16
	for i := range values[:min(first, len(values))] {
		values[i] = value
	}
	for filled := first; filled < len(values); filled *= 2 {
		copy(values[filled:], values[:filled])
	}
}

// afterDeltas returns what follows the integers at the start of the content that are stored as
// packed differences, of which there may be at most so many.
func afterDeltas(content []byte, most int) ([]byte, error) {
	number := func() uint64 {
		value, n := binary.Uvarint(content)
		if n <= 0 {
			content = nil
			return 0
		}
		content = content[n:]
		return value
	}
	block, parts, total := number(), number(), number()
	number() // the first one
	if parts == 0 || parts > 1<<16 || block > 1<<24 || total > uint64(most) {
		return nil, fmt.Errorf("%d differences in blocks of %d, for %d values", total, block, most)
	}
	for each := int(block / parts); total > 1 && each > 0; {
		number() // the least difference of the block
		if len(content) < int(parts) {
			return nil, errCut
		}
		widths := content[:parts]
		content = content[parts:]
		for _, width := range widths {
			if total <= 1 {
				break
			}
			size := each * int(width) / 8
			if size > len(content) {
				return nil, errCut
			}
			content = content[size:]
			total -= min(total-1, uint64(each))
		}
	}
	return content, nil
}
