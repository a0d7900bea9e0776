package images

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

func TestDrawCrop(t *testing.T) {
	const side, draws = 256, 20000
	random := rand.New(rand.NewPCG(1, 2))
	var area, logRatio, left, top float64
	atEdge := [4]bool{}
	for range draws {
		r := drawCrop(side, random)
		if r.x < 0 || r.y < 0 || r.width < 1 || r.height < 1 || r.x+r.width > side || r.y+r.height > side {
			t.Fatalf("%+v is not inside", r)
		}
		share := float64(r.width*r.height) / (side * side)
		ratio := float64(r.width) / float64(r.height)
		// The sides are rounded to pixels.
		if share < 0.079 || ratio < 0.735 || ratio > 1.36 {
			t.Fatalf("%+v: share %.4f, ratio %.4f", r, share, ratio)
		}
		area += share / draws
		logRatio += math.Log(ratio) / draws
		if r.width < side {
			left += float64(r.x) / float64(side-r.width) / draws
		}
		if r.height < side {
			top += float64(r.y) / float64(side-r.height) / draws
		}
		atEdge[0] = atEdge[0] || r.x == 0
		atEdge[1] = atEdge[1] || r.y == 0
		atEdge[2] = atEdge[2] || r.x+r.width == side
		atEdge[3] = atEdge[3] || r.y+r.height == side
	}
	if math.Abs(area-meanFittingArea()) > 0.01 {
		t.Errorf("mean share %.4f, want about %.4f", area, meanFittingArea())
	}
	if math.Abs(logRatio) > 0.01 {
		t.Errorf("mean logarithm of the ratio %.4f, want 0", logRatio)
	}
	if math.Abs(left-0.5) > 0.02 || math.Abs(top-0.5) > 0.02 {
		t.Errorf("mean place %.3f, %.3f, want the middle", left, top)
	}
	if atEdge != [4]bool{true, true, true, true} {
		t.Errorf("edges that crops reached: %v, want all", atEdge)
	}
}

// meanFittingArea is the mean of the areas a, uniform in [0.08, 1], that fit a
// square with a ratio whose logarithm is uniform: a·max(ratio, 1/ratio) <= 1.
func meanFittingArea() float64 {
	const steps = 1000
	var sum, weight float64
	for i := range steps {
		a := 0.08 + 0.92*(float64(i)+0.5)/steps
		fits := min(math.Log(1/a)/math.Log(4.0/3), 1)
		sum += a * fits
		weight += fits
	}
	return sum / weight
}

func TestWritePlanes(t *testing.T) {
	m := &RGB{Pix: []byte{0, 128, 255, 10, 20, 30, 99, 99, 99, 40, 50, 60, 70, 80, 90}, Stride: 9, Width: 2, Height: 2}
	mean := [3]float64{0.485, 0.456, 0.406}
	deviation := [3]float64{0.229, 0.224, 0.225}
	for _, flip := range []bool{false, true} {
		got, bytes := make([]float32, 12), make([]uint8, 12)
		writePlanes(got, &view{*m, flip}, &normalised)
		writePlanes(bytes, &view{*m, flip}, &asTheyAre)
		for c := range 3 {
			for y := range 2 {
				for x := range 2 {
					from := x
					if flip {
						from = 1 - x
					}
					want := (float64(m.Pix[9*y+3*from+c])/255 - mean[c]) / deviation[c]
					if value := float64(got[4*c+2*y+x]); math.Abs(value-want) > 1e-6 {
						t.Errorf("flip %v: channel %d of (%d, %d) is %v, want %v", flip, c, x, y, value, want)
					}
					if got, want := bytes[4*c+2*y+x], m.Pix[9*y+3*from+c]; got != want {
						t.Errorf("flip %v: byte %d of (%d, %d) is %d, want %d", flip, c, x, y, got, want)
					}
				}
			}
		}
	}
}

func TestTestViewIsTheCentre(t *testing.T) {
	var s scratch
	s.square.reshape(8, 8)
	for i := range s.square.Pix {
		s.square.Pix[i] = byte(i)
	}
	// (8-5)/2, rounded down
	if got, want := s.testView(5), s.square.Crop(1, 1, 5, 5); got.flip || !reflect.DeepEqual(got.RGB, *want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Of views of an image that rises to the right, half fall, and all begin at a place of their own,
// unless the options say otherwise.
func TestWhatIsRandomInTrainingViews(t *testing.T) {
	const draws = 2000
	var s scratch
	s.square.reshape(16, 16)
	for i := range s.square.Pix {
		s.square.Pix[i] = byte(10 * (i / 3 % 16))
	}
	for _, o := range []ViewOptions{{}, {Unmirrored: true}, {Central: true}, {Central: true, Unmirrored: true}} {
		o.Crop = 8
		random := rand.New(rand.NewPCG(5, 5))
		values := make([]uint8, 3*8*8)
		flipped, others := 0, 0
		for range draws {
			v := s.trainingView(o, random)
			writePlanes(values, &v, &asTheyAre)
			ends := [2]uint8{values[0], values[7]}
			if ends[0] > ends[1] {
				flipped++
				ends[0], ends[1] = ends[1], ends[0]
			}
			if ends != [2]uint8{40, 110} { // those of the centre
				others++
			}
		}
		if o.Unmirrored && flipped > 0 || !o.Unmirrored && math.Abs(float64(flipped)-draws/2) > 5*math.Sqrt(draws)/2 {
			t.Errorf("%+v: %d of %d views are flipped", o, flipped, draws)
		}
		if o.Central && others > 0 || !o.Central && others < draws/2 {
			t.Errorf("%+v: %d of %d views are not the centre", o, others, draws)
		}
	}
}
