package table

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decoded is the text of a file in UTF-8 without the mark that may be in front of it, which says
// that it is UTF-8, or UTF-16, as Windows and Excel write it.
func decoded(r *bufio.Reader) (*bufio.Reader, error) {
	mark, _ := r.Peek(3)
	switch {
	case len(mark) == 3 && string(mark) == "\xef\xbb\xbf":
		_, err := r.Discard(3)
		return r, err
	case len(mark) >= 2 && string(mark[:2]) == "\xff\xfe":
		return bufio.NewReaderSize(&utf16Reader{r: r, order: binary.LittleEndian}, r.Size()), nil
	case len(mark) >= 2 && string(mark[:2]) == "\xfe\xff":
		return bufio.NewReaderSize(&utf16Reader{r: r, order: binary.BigEndian}, r.Size()), nil
	}
	return r, nil
}

// utf16Reader reads UTF-16 as UTF-8. The mark at its beginning is no text.
type utf16Reader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	high  rune   // the first half of a pair; 0 for none
	text  []byte // that is still to be given
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.text) == 0 {
		if err := u.more(); err != nil {
			return 0, err
		}
	}
	n := copy(p, u.text)
	u.text = u.text[n:]
	return n, nil
}

// more reads some units.
func (u *utf16Reader) more() error {
	var units [4096]byte
	n, err := io.ReadFull(u.r, units[:])
	switch {
	case n%2 == 1:
		return errors.New("UTF-16 of an odd number of bytes")
	case n == 0:
		return err
	}
	text := u.text[:0]
	for i := 0; i < n; i += 2 {
		unit := rune(u.order.Uint16(units[i:]))
		switch {
		case u.high != 0:
			text, u.high = utf8.AppendRune(text, utf16.DecodeRune(u.high, unit)), 0
		case unit >= 0xd800 && unit < 0xdc00:
			u.high = unit
		case unit != 0xfeff: // the mark
			text = utf8.AppendRune(text, unit)
		}
	}
	u.text = text
	return nil
}
