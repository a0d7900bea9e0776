package images_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"iwda/datasets/images"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// copied is a batch that outlives its memory.
func copied(b *images.Batch) images.Batch {
	return images.Batch{Values: slices.Clone(b.Values), Rows: slices.Clone(b.Rows)}
}

func equal(a, b images.Batch) bool {
	return slices.Equal(a.Values, b.Values) && slices.Equal(a.Rows, b.Rows)
}

func newLoader(t testing.TB, reader *images.Reader, options images.LoaderOptions) *images.Loader {
	t.Helper()
	loader := must.Have(images.NewLoader(reader, options))(t)
	t.Cleanup(loader.Close)
	return loader
}

// take returns the loader's next n batches.
func take(t testing.TB, loader *images.Loader, n int) []images.Batch {
	t.Helper()
	var batches []images.Batch
	for range n {
		b := must.Have(loader.Next(t.Context()))(t)
		batches = append(batches, copied(b))
		loader.Release(b)
	}
	return batches
}

// options are those of most tests: 11 images make two batches of 4 a pass.
func options(workers int) images.LoaderOptions {
	return images.LoaderOptions{
		ViewOptions: images.ViewOptions{BatchSize: 4, Crop: 12, Workers: workers},
		Seed:        5, Purpose: "source",
	}
}

func TestLoaderPasses(t *testing.T) {
	set := makeSet(t, 11)
	loader := newLoader(t, newReader(t, set, images.ReaderOptions{Side: 16}), options(2))
	if got := loader.BatchesPerPass(); got != 2 {
		t.Fatalf("%d batches a pass, want 2", got)
	}
	const passes = 20
	seen := make([]int, set.Len())
	var orders [][]int
	for n, b := range take(t, loader, 2*passes) {
		if len(b.Rows) != 4 || len(b.Values) != 4*3*12*12 {
			t.Fatalf("batch %d has %d rows and %d values", n, len(b.Rows), len(b.Values))
		}
		for _, row := range b.Rows {
			seen[row]++
		}
		if n%2 == 0 {
			orders = append(orders, b.Rows)
			continue
		}
		pass := append(orders[len(orders)-1], b.Rows...)
		slices.Sort(pass)
		if len(slices.Compact(pass)) != 8 {
			t.Errorf("pass %d repeats an image", n/2)
		}
	}
	if slices.Equal(orders[0], orders[1]) && slices.Equal(orders[1], orders[2]) {
		t.Error("passes have the same order")
	}
	// Who is left out changes: 8/11 of 20 passes see an image.
	for row, times := range seen {
		if times < 6 || times == passes {
			t.Errorf("image %d was drawn in %d of %d passes", row, times, passes)
		}
	}
}

func TestLoaderDoesNotDependOnWorkers(t *testing.T) {
	set := makeSet(t, 11)
	want := take(t, newLoader(t, newReader(t, set, images.ReaderOptions{Side: 16}), options(1)), 7)
	for _, keep := range []bool{false, true} {
		for _, workers := range []int{1, 2, 5} {
			for _, ahead := range []int{1, 4} {
				o := options(workers)
				o.Ahead = ahead
				got := take(t, newLoader(t, newReader(t, set, images.ReaderOptions{Side: 16, Keep: keep}), o), 7)
				for n := range want {
					if !equal(got[n], want[n]) {
						t.Errorf("kept: %v, %d workers, %d ahead: batch %d differs", keep, workers, ahead, n)
					}
				}
			}
		}
	}
}

func TestLoaderDependsOnSeedPurposeAndPass(t *testing.T) {
	// One image, so that only its views can differ.
	reader := newReader(t, makeSet(t, 1), images.ReaderOptions{Side: 16})
	o := options(1)
	o.BatchSize = 1
	batches := take(t, newLoader(t, reader, o), 2)
	o.Seed = 6
	batches = append(batches, take(t, newLoader(t, reader, o), 1)...)
	o.Seed, o.Purpose = 5, "target"
	batches = append(batches, take(t, newLoader(t, reader, o), 1)...)
	for a := range batches {
		for b := range a {
			if slices.Equal(batches[a].Values, batches[b].Values) {
				t.Errorf("views %d and %d are equal", a, b)
			}
		}
	}
}

func TestSeekContinues(t *testing.T) {
	set := makeSet(t, 11)
	reader := newReader(t, set, images.ReaderOptions{Side: 16, Keep: true})
	loader := newLoader(t, reader, options(2))
	want := take(t, loader, 9)
	for _, position := range []int{0, 3, 4, 8} {
		other := newLoader(t, reader, options(3))
		other.Seek(position)
		for n, b := range take(t, other, 9-position) {
			if !equal(b, want[position+n]) {
				t.Errorf("after seeking %d: batch %d differs", position, position+n)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a loader that has begun went on elsewhere")
		}
	}()
	loader.Seek(0)
}

func TestLoaderOfRows(t *testing.T) {
	set := makeSet(t, 11)
	o := options(2)
	o.Rows, o.BatchSize = []int{9, 2, 4}, 3
	for _, b := range take(t, newLoader(t, newReader(t, set, images.ReaderOptions{Side: 16}), o), 4) {
		rows := slices.Sorted(slices.Values(b.Rows))
		if !slices.Equal(rows, []int{2, 4, 9}) {
			t.Errorf("rows %v, want 2, 4 and 9", rows)
		}
	}
}

func TestBrokenFileIsAnErrorAtItsBatch(t *testing.T) {
	set := makeSet(t, 11)
	reader := newReader(t, set, images.ReaderOptions{Side: 16})
	whole := take(t, newLoader(t, reader, options(1)), 4)
	// The third batch's second image; the first batch may have it too, which would
	// make the test another one.
	victim := whole[2].Rows[1]
	first := slices.IndexFunc(whole, func(b images.Batch) bool { return slices.Contains(b.Rows, victim) })
	content := testfiles.Read(t, set.Path(victim))
	testfiles.Write(t, set.Path(victim), string(content[:len(content)/2]))
	loader := newLoader(t, reader, options(3))
	for n, b := range take(t, loader, first) {
		if !equal(b, whole[n]) {
			t.Errorf("batch %d before the broken file differs", n)
		}
	}
	_, err := loader.Next(t.Context())
	var broken *images.FileError
	if !errors.As(err, &broken) || broken.Path != set.Path(victim) {
		t.Fatalf("%v, want a FileError of %s", err, set.Path(victim))
	}
}

func TestLoaderStops(t *testing.T) {
	loader := newLoader(t, newReader(t, makeSet(t, 11), images.ReaderOptions{Side: 16}), options(2))
	loader.Close() // with nothing begun
	take(t, loader, 1)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	b, err := loader.Next(cancelled)
	for ; err == nil; b, err = loader.Next(cancelled) { // batches that are ready may be returned
		loader.Release(b)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	loader.Close()
	loader.Close()
}

func TestImpossibleOptions(t *testing.T) {
	reader := newReader(t, makeSet(t, 3), images.ReaderOptions{Side: 16})
	tests := []struct {
		options images.ViewOptions
		want    string
	}{
		{images.ViewOptions{BatchSize: 4, Crop: 8}, "test-domain has 3 images, less than a batch of 4"},
		{images.ViewOptions{BatchSize: 2, Crop: 8, Rows: []int{1}}, "1 image, less than a batch"},
		{images.ViewOptions{Crop: 8}, "batches of 0 images"},
		{images.ViewOptions{BatchSize: 2, Crop: 17}, "views of 17 pixels a side, want 1 to 16"},
		{images.ViewOptions{BatchSize: 2}, "views of 0 pixels"},
		{images.ViewOptions{BatchSize: 2, Crop: 8, Rows: []int{0, 3}}, "row 3 of test-domain, which has 3"},
		{images.ViewOptions{BatchSize: 2, Crop: 8, Workers: -1}, "-1 workers"},
	}
	for _, test := range tests {
		_, err := images.NewLoader(reader, images.LoaderOptions{ViewOptions: test.options})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want an error with %q", test.options, err, test.want)
		}
	}
}

func TestBatches(t *testing.T) {
	set := makeSet(t, 11)
	var want []images.Batch
	for _, workers := range []int{1, 2, 5} {
		for _, keep := range []bool{false, true} {
			var got []images.Batch
			for b, err := range newReader(t, set, images.ReaderOptions{Side: 16, Keep: keep}).Batches(t.Context(), images.ViewOptions{BatchSize: 4, Crop: 12, Workers: workers}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, copied(b))
			}
			if want == nil {
				want = got
			}
			if !slices.EqualFunc(got, want, equal) {
				t.Errorf("%d workers, kept: %v: batches differ", workers, keep)
			}
		}
	}
	var rows []int
	for _, b := range want {
		rows = append(rows, b.Rows...)
		if len(b.Values) != len(b.Rows)*3*12*12 {
			t.Errorf("%d values of %d images", len(b.Values), len(b.Rows))
		}
	}
	if !slices.Equal(rows, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) || len(want) != 3 {
		t.Errorf("rows %v in %d batches, want all in order in 3", rows, len(want))
	}
}

func TestBatchesEnd(t *testing.T) {
	set := makeSet(t, 11)
	reader := newReader(t, set, images.ReaderOptions{Side: 16})
	o := images.ViewOptions{BatchSize: 2, Crop: 8}
	for range reader.Batches(t.Context(), o) {
		break // leaves no goroutine behind that the race detector or Close would meet
	}
	testfiles.Write(t, set.Path(5), "no image")
	n := 0
	var last error
	for _, err := range reader.Batches(t.Context(), o) {
		n++
		last = err
	}
	var broken *images.FileError
	if n != 3 || !errors.As(last, &broken) || broken.Path != set.Path(5) {
		t.Errorf("%d steps, the last with %v, want the third with a FileError of %s", n, last, set.Path(5))
	}
	for _, err := range reader.Batches(t.Context(), images.ViewOptions{}) {
		if err == nil {
			t.Error("no error for impossible options")
		}
	}
}

// A context that has ended ends the range, also where batches are ready.
func TestBatchesOfAnEndedContext(t *testing.T) {
	reader := newReader(t, makeSet(t, 4), images.ReaderOptions{Side: 16, Keep: true})
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		batches := 0
		var last error
		for _, err := range reader.Batches(ctx, images.ViewOptions{BatchSize: 1, Crop: 8}) {
			if last = err; err != nil {
				break
			}
			batches++
			time.Sleep(time.Millisecond) // the other batches are made meanwhile
			cancel()
		}
		if batches != 1 || !errors.Is(last, context.Canceled) {
			t.Fatalf("%d batches, then error %v; want the context's after 1", batches, last)
		}
	}
}
