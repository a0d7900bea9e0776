package images

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
)

// traits are what of a file its pixels do not show, as a set of bits.
type traits uint8

const (
	seeThrough traits = 1 << iota // there was white put behind it
	animated                      // its first picture was taken
	faint                         // of 16 bits a channel, and the upper 8, which count, say next to nothing
)

// brightest is the least of the upper 8 bits that an image of 16 has, if it is not faint.
const brightest = 16

// noteOf says what to know of images with a trait.
var noteOf = map[traits]string{
	seeThrough: "transparent pixels, which are taken as on white: put other images on the background that they are meant for",
	animated:   "an animation, of which the first picture is taken",
	faint: fmt.Sprintf("16 bits a channel and no value above %d, so that they are almost black: the upper 8 bits count; scale the values up to 65535",
		brightest<<8-1),
}

// notes says in sentences how many images of the set have which traits.
func (s *Set) notes(of func(i int) traits) (sentences []string) {
	counts := map[traits]int{}
	for i := range s.Len() {
		for trait := range noteOf {
			if of(i)&trait != 0 {
				counts[trait]++
			}
		}
	}
	for _, trait := range []traits{seeThrough, animated, faint} {
		if n := counts[trait]; n > 0 {
			sentences = append(sentences, fmt.Sprintf("%s: %d of %d images have %s", s.name, n, s.Len(), noteOf[trait]))
		}
	}
	return sentences
}

// orientationOf returns the orientation that the EXIF of a file says, 1 to 8, and what else its parts tell.
func orientationOf(data []byte) (orientation int, found traits) {
	for name, content := range chunks(data) {
		switch name {
		case "acTL":
			if len(content) >= 4 && binary.BigEndian.Uint32(content) > 1 { // the number of pictures
				found |= animated
			}
		case "eXIf", "EXIF", "\xff\xe1":
			if o := orientationIn(content); o != 0 {
				orientation = o
			}
		}
	}
	return orientation, found
}

// chunks ranges over the named parts of a PNG or WebP file, and over those before the pixels of a JPEG
// file, whose names are their two bytes.
func chunks(data []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		switch {
		case bytes.HasPrefix(data, []byte("\xff\xd8")):
			for at := 2; at+4 <= len(data) && data[at] == 0xff && data[at+1] != 0xda; {
				if data[at+1] == 0xff { // a fill byte
					at++
					continue
				}
				end := at + 2 + int(binary.BigEndian.Uint16(data[at+2:]))
				if end < at+4 || end > len(data) || !yield(string(data[at:at+2]), data[at+4:end]) {
					return
				}
				at = end
			}
		case isWebP(data):
			for at := 12; at+8 <= len(data); {
				size := int64(binary.LittleEndian.Uint32(data[at+4:]))
				end := int64(at) + 8 + size
				if end > int64(len(data)) || !yield(string(data[at:at+4]), data[at+8:end]) {
					return
				}
				at = int(end + size%2)
			}
		default:
			for at := 8; at+12 <= len(data); {
				end := int64(at) + 8 + int64(binary.BigEndian.Uint32(data[at:]))
				if end+4 > int64(len(data)) || !yield(string(data[at+4:at+8]), data[at+8:end]) {
					return
				}
				at = int(end) + 4 // after the checksum
			}
		}
	}
}

// orientationIn returns the orientation that EXIF data say, 1 to 8, or 0 if they say none.
func orientationIn(exif []byte) int {
	exif = bytes.TrimPrefix(exif, []byte("Exif\x00\x00"))
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(exif, []byte("MM\x00*")):
		order = binary.BigEndian
	case !bytes.HasPrefix(exif, []byte("II*\x00")):
		return 0
	}
	if len(exif) < 8 {
		return 0
	}
	first := int64(order.Uint32(exif[4:]))
	if first+2 > int64(len(exif)) {
		return 0
	}
	const tag, short, entrySize = 0x0112, 3, 12
	entries := exif[first+2:]
	for range order.Uint16(exif[first:]) {
		if len(entries) < entrySize {
			return 0
		}
		if o := order.Uint16(entries[8:]); order.Uint16(entries) == tag && order.Uint16(entries[2:]) == short && o <= 8 {
			return int(o)
		}
		entries = entries[entrySize:]
	}
	return 0
}

// turn turns and mirrors an image whose orientation is that of EXIF: 1 is upright, 6 what has to be
// turned to the right by 90 degrees.
func (m *RGB) turn(orientation int) {
	if orientation <= 1 {
		return
	}
	from := *m
	if orientation >= 5 { // rows become columns
		m.Width, m.Height = m.Height, m.Width
	}
	m.Stride, m.Pix = 3*m.Width, make([]byte, len(m.Pix))
	fromRight := slices.Contains([]int{2, 3, 7, 8}, orientation)
	fromBelow := slices.Contains([]int{3, 4, 6, 7}, orientation)
	for y := range m.Height {
		for x := range m.Width {
			fromX, fromY := x, y
			if orientation >= 5 {
				fromX, fromY = y, x
			}
			if fromRight {
				fromX = from.Width - 1 - fromX
			}
			if fromBelow {
				fromY = from.Height - 1 - fromY
			}
			copy(m.Pix[y*m.Stride+3*x:][:3], from.Pix[fromY*from.Stride+3*fromX:])
		}
	}
}
