package images_test

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"iwda/datasets/images"
	"iwda/datasets/internal/kernel"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// benchSet writes 216 photograph-like JPEG files of 300×300 pixels, in one class,
// to the folder that $IWDA_BENCH_IMAGES names, so that research/bench/loader_peer.py can read
// the same ones, or to a temporary one.
func benchSet(b *testing.B) *images.Set {
	b.Helper()
	root := os.Getenv("IWDA_BENCH_IMAGES")
	if root == "" {
		root = b.TempDir()
	}
	folder := filepath.Join(root, "class")
	testfiles.MakeFolder(b, folder)
	files := 216
	if testing.Short() {
		files = 36
	}
	for i := range files {
		testfiles.Write(b, filepath.Join(folder, fmt.Sprintf("%05d.jpg", i)), string(photograph(b, uint64(i))))
	}
	return must.Have(images.OpenOwn(root, nil))(b)
}

// photograph is a JPEG file of smooth shades and some noise, of about 40 kB.
func photograph(b *testing.B, seed uint64) []byte {
	const side, coarse = 300, 40
	random := rand.New(rand.NewPCG(seed, 1))
	small := blank(coarse, coarse)
	for i := range small.Pix {
		small.Pix[i] = byte(random.IntN(256))
	}
	shades := blank(side, side)
	resize(shades, small, kernel.Bicubic)
	picture := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		for c := range 3 {
			noisy := float64(shades.Pix[3*i+c]) + 6*random.NormFloat64()
			picture.Pix[4*i+c] = byte(min(max(noisy, 0), 255))
		}
		picture.Pix[4*i+3] = 255
	}
	var file bytes.Buffer
	must.Do(b, jpeg.Encode(&file, picture, &jpeg.Options{Quality: 90}))
	return file.Bytes()
}

// BenchmarkLoader measures training batches of 36 images: the first pass over the
// files, which fills a cache, and later ones. An operation is a batch.
func BenchmarkLoader(b *testing.B) {
	set := benchSet(b)
	for _, workers := range []int{1, 2} {
		for _, cache := range []struct {
			name string
			keep bool
		}{{"first", false}, {"cached", true}} {
			b.Run(fmt.Sprintf("%s/workers=%d", cache.name, workers), func(b *testing.B) {
				reader := must.Have(images.NewReader(set, images.ReaderOptions{Side: 256, Keep: cache.keep}))(b)
				defer reader.Close()
				loader := must.Have(images.NewLoader(reader, images.LoaderOptions{ViewOptions: images.ViewOptions{BatchSize: 36, Crop: 224, Workers: workers}}))(b)
				defer loader.Close()
				step := func() {
					batch := must.Have(loader.Next(b.Context()))(b)
					loader.Release(batch)
				}
				if cache.keep {
					for range loader.BatchesPerPass() + 3 {
						step()
					}
				}
				times := make([]time.Duration, 0, b.N)
				for b.Loop() {
					began := time.Now()
					step()
					times = append(times, time.Since(began))
				}
				var total time.Duration
				for _, t := range times {
					total += t
				}
				// A mean, not a median: batches that are ready follow ones that were waited
				// for.
				b.ReportMetric(total.Seconds()*1e3/float64(len(times)), "ms")
				b.ReportMetric(36*float64(b.N)/b.Elapsed().Seconds(), "images/s")
			})
		}
	}
}
