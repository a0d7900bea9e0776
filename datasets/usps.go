package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"iwda/datasets/internal/kernel"
)

const (
	uspsSide  = 16
	mnistSide = 28
	// maxUSPSLine bounds a line of the text: 256 features take some 2,500 bytes.
	maxUSPSLine = 1 << 16
	// maxUSPSDigits is twice what both public files hold. A line of two bytes is a
	// whole image, so a short file could fill the memory otherwise.
	maxUSPSDigits = 20_000
)

// ReadUSPS reads USPS digits in LIBSVM's text form, bzip2-compressed, gzipped or
// plain; the name heads its errors. Each line is a label from 1 to 10, for the
// digits 0 to 9, and up to 256 features index:value, indices ascending from 1,
// values in [-1, 1], 0 where an index is left out: a 16×16 image in C order. A
// value v becomes the byte round(255 (v+1)/2), and the image is enlarged
// bilinearly, pixel centres at half-integers, to {1, 28, 28}. A line that says
// anything else is an error with its number, and so is a file without lines, or with
// more than 20,000.
func ReadUSPS(r io.Reader, name string) (*Images, error) {
	r, err := decompress(r, name)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxUSPSLine)
	small, large := square(uspsSide), square(mnistSide)
	var resizer kernel.Resizer
	var pixels []byte
	var labels []int
	number := 0
	for lines.Scan() {
		number++
		if number > maxUSPSDigits {
			return nil, fmt.Errorf("%s:%d: more than %d digits: not USPS", name, number, maxUSPSDigits)
		}
		label, err := parseUSPSLine(small.Pix, lines.Text())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		resizer.Resize(large, small, 1, kernel.Bilinear)
		pixels = append(pixels, large.Pix...)
		labels = append(labels, label)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: line longer than %d bytes: not USPS in LIBSVM's form", name, number+1, maxUSPSLine)
	case err != nil:
		return nil, fmt.Errorf("%s:%d: %w", name, number+1, err)
	case number == 0:
		return nil, fmt.Errorf("%s: no lines, want one for each digit", name)
	}
	return NewImages(name, []int{1, mnistSide, mnistSide}, DigitNames(), pixels, KnownLabels(labels))
}

// square is a grey picture of that side.
func square(side int) kernel.Picture {
	return kernel.Picture{Pix: make([]byte, side*side), Stride: side, Width: side, Height: side}
}

// parseUSPSLine writes a line's image to pixels and returns its digit.
func parseUSPSLine(pixels []byte, line string) (int, error) {
	for i := range pixels {
		pixels[i] = uspsByte(0)
	}
	fields := strings.FieldsSeq(line)
	digit := -1
	last := 0
	for field := range fields {
		if digit < 0 {
			label, err := strconv.Atoi(field)
			if err != nil || label < 1 || label > 10 {
				return 0, fmt.Errorf("label %q, want 1 to 10", field)
			}
			digit = label - 1
			continue
		}
		indexText, valueText, ok := strings.Cut(field, ":")
		if !ok {
			return 0, fmt.Errorf("feature %q, want index:value", field)
		}
		index, err := strconv.Atoi(indexText)
		if err != nil || index <= last || index > len(pixels) {
			return 0, fmt.Errorf("index %q after %d, want ascending ones from 1 to %d", indexText, last, len(pixels))
		}
		last = index
		value, err := strconv.ParseFloat(valueText, 64)
		if err != nil || !(value >= -1 && value <= 1) {
			return 0, fmt.Errorf("value %q of index %d, want a number from -1 to 1", valueText, index)
		}
		pixels[index-1] = uspsByte(value)
	}
	if digit < 0 {
		return 0, errors.New("empty line, want a label and features")
	}
	return digit, nil
}

func uspsByte(value float64) byte { return byte(math.Round((value + 1) / 2 * 255)) }
