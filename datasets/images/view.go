package images

import (
	"math"
	"math/rand/v2"

	"iwda/datasets/internal/kernel"
)

// The range of a random crop: its share of the image's area and its width over its
// height, uniform in its logarithm.
const (
	smallestArea, largestArea = 0.08, 1.0
	narrowest, widest         = 3.0 / 4, 4.0 / 3
	// cropTries is how often a crop is drawn that may not fit into the image.
	cropTries = 10
)

// Normalisation returns the means and deviations of ImageNet, those of all views, for
// pixels from 0 to 1.
func Normalisation() (mean, deviation [3]float32) {
	return [3]float32{0.485, 0.456, 0.406}, [3]float32{0.229, 0.224, 0.225}
}

// byteTable has what becomes of a byte of each channel.
type byteTable[T float32 | uint8] [3][256]T

// asTheyAre leaves bytes so.
var asTheyAre = func() (bytes byteTable[uint8]) {
	for c := range bytes {
		for x := range bytes[c] {
			bytes[c][x] = uint8(x)
		}
	}
	return bytes
}()

// normalised[c][x] is (x/255 - mean)/deviation of channel c, each step rounded to float32.
var normalised = func() (table byteTable[float32]) {
	mean, deviation := Normalisation()
	for c := range table {
		for x := range table[c] {
			unit := float32(x) / 255
			centred := float32(unit - mean[c])
			table[c][x] = centred / deviation[c]
		}
	}
	return table
}()

// rectangle is a part of an image.
type rectangle struct{ x, y, width, height int }

// drawCrop draws what part of a square training sees, as the random resized crop of
// torchvision does: up to ten tries of an area and a ratio of the sides, then a
// place; the whole square where none fits.
func drawCrop(side int, random *rand.Rand) rectangle {
	for range cropTries {
		area := float64(side*side) * uniform(random, smallestArea, largestArea)
		ratio := math.Exp(uniform(random, math.Log(narrowest), math.Log(widest)))
		width := int(math.RoundToEven(math.Sqrt(area * ratio)))
		height := int(math.RoundToEven(math.Sqrt(area / ratio)))
		if 0 < width && width <= side && 0 < height && height <= side {
			return rectangle{random.IntN(side - width + 1), random.IntN(side - height + 1), width, height}
		}
	}
	return rectangle{0, 0, side, side}
}

func uniform(random *rand.Rand, from, to float64) float64 {
	return from + (to-from)*random.Float64()
}

// view is what a network sees of an image, mirrored left to right where flip is set.
type view struct {
	RGB
	flip bool
}

// trainingView makes a view of s.square as the options say: a random crop, resized to crop×crop, or
// the centre; flipped half of the time. It is valid until the next one.
func (s *scratch) trainingView(o ViewOptions, random *rand.Rand) view {
	if o.Central {
		v := s.testView(o.Crop)
		v.flip = !o.Unmirrored && random.IntN(2) == 1
		return v
	}
	part := drawCrop(s.square.Width, random)
	flip := !o.Unmirrored && random.IntN(2) == 1
	s.crop.reshape(o.Crop, o.Crop)
	s.resize(&s.crop, s.square.Crop(part.x, part.y, part.width, part.height), kernel.Bilinear)
	return view{s.crop, flip}
}

// testView is the centre of s.square: its upper left corner is at (side - crop)/2,
// rounded down.
func (s *scratch) testView(crop int) view {
	corner := (s.square.Width - crop) / 2
	return view{*s.square.Crop(corner, corner, crop, crop), false}
}

// writePlanes writes the three planes of a view to dst, byte after byte through the table.
func writePlanes[T float32 | uint8](dst []T, m *view, table *byteTable[T]) {
	size := m.Width * m.Height
	for y := range m.Height {
		row := m.row(y)
		red := dst[y*m.Width:][:m.Width]
		green := dst[size+y*m.Width:][:m.Width]
		blue := dst[2*size+y*m.Width:][:m.Width]
		x, step := 0, 1
		if m.flip {
			x, step = m.Width-1, -1
		}
		for ; len(row) >= 3; row = row[3:] {
			red[x], green[x], blue[x] = table[0][row[0]], table[1][row[1]], table[2][row[2]]
			x += step
		}
	}
}
