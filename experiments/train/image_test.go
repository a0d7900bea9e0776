package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/experiments/plan"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/wholefile"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

// drawOffice writes images of coloured shapes as Office-31 lies on disk: two domains of
// 31 classes, a class a colour and shape, the domains different in background and
// contrast. Beside them are the weights of a ResNet-18.
func drawOffice(t testing.TB, perClass int) (root string) {
	t.Helper()
	root = t.TempDir()
	writeResNet(t, filepath.Join(root, "resnet18.safetensors"))
	description := must.Have(catalogue.Find("office31"))(t)
	const side = 40
	for _, domain := range []string{"amazon", "dslr"} {
		for class, name := range description.Classes {
			folder := filepath.Join(root, domain, "images", name)
			testfiles.MakeFolder(t, folder)
			for n := range perClass {
				m := image.NewRGBA(image.Rect(0, 0, side, side))
				for y := range side {
					for x := range side {
						m.Set(x, y, shade(domain, class, n, x, y))
					}
				}
				var buffer bytes.Buffer
				must.Do(t, png.Encode(&buffer, m))
				testfiles.Write(t, filepath.Join(folder, fmt.Sprintf("frame_%04d.png", n+1)), buffer.String())
			}
		}
	}
	return root
}

// writeResNet writes weights that were drawn at random as pretrained ones are.
func writeResNet(t testing.TB, path string) {
	t.Helper()
	torch.Tidy(func() {
		torch.Seed(1)
		network, _ := must.Both(nets.New(architecture.ResNet18, nets.Settings{Classes: 2}))(t)
		var backbone []torch.Named
		for _, e := range network.State() {
			if name, is := strings.CutPrefix(e.Name, "backbone."); is {
				backbone = append(backbone, torch.Named{Name: name, Tensor: e.Tensor})
			}
		}
		must.Do(t, wholefile.Write(path, func(w io.Writer) error { return torch.WriteTensors(w, backbone, nil) }))
	})
}

// shade colours a pixel: hue and radius of a disc by class, its place by number.
func shade(domain string, class, n, x, y int) color.Color {
	dx, dy := float64(x-16-4*(n%3)), float64(y-20)
	angle := 2 * math.Pi * float64(class) / 31
	ground, contrast := 235.0, 1.0
	if domain == "dslr" {
		ground, contrast = 90+float64(x), 0.7
	}
	if math.Hypot(dx, dy) > 6+float64(class%4)*2 {
		return color.Gray{uint8(ground)}
	}
	channel := func(phase float64) uint8 { return uint8(contrast * (127 + 120*math.Cos(angle+phase))) }
	return color.RGBA{channel(0), channel(2), channel(4), 255}
}

const office = `
experiment: shapes
dataset: {name: office31, root: ROOT, resize: 40, crop: 32, workers: 2, cache: memory}
tasks: [amazon-dslr]
variants: [full, subsampled]
methods: [source-only, dann, iwdan, iwcdan, iwcdan-e-o, dan, jan, iwjan]
seeds: [1]
network: {name: resnet18, pretrained: ROOT/resnet18.safetensors}
discriminator: {hidden: 32}
train: {steps: 14, eval_every: 7, batch: 16, eval_batch: 31}
weights: {every: 1, min_singular_value: 0}
overrides: [{when: {method: [jan, iwjan]}, network: {frozen: true}}]
`

func resolveOffice(t testing.TB, root, variant, method string, set ...string) config.Resolved {
	t.Helper()
	return resolveText(t, strings.ReplaceAll(office, "ROOT", root), variant, method, 1, set...)
}

// Every family of methods trains a ResNet from image files, from the first step to the
// table's numbers.
func TestImagesEndToEnd(t *testing.T) {
	root := drawOffice(t, 2)
	for _, c := range []struct {
		method string
		set    []string
	}{
		{"source-only", nil},
		{"iwcdan", []string{"discriminator.random_projection=64"}},
		{"iwjan", []string{"network.views=2"}},
	} {
		run := resolveOffice(t, root, "full", c.method, append(c.set, "train.steps=6", "train.eval_every=3")...)
		dir, result := train(t, run)
		metrics := metricsOf(t, dir)
		if len(metrics) != 3 || result.Steps != 6 || len(result.Classes) != 31 {
			t.Errorf("%s %v: %d evaluations, %d steps", c.method, c.set, len(metrics), result.Steps)
		}
		total := 0
		for _, row := range result.Confusion {
			for _, n := range row {
				total += n
			}
		}
		if total != 2*31 {
			t.Errorf("%s %v: %d images evaluated, want %d", c.method, c.set, total, 2*31)
		}
		updates, err := dir.ReadWeights()
		// Two passes of 62/16 = 3 steps.
		if err != nil || len(updates) != 2 || updates[0].Step != 3 {
			t.Errorf("%s %v: updates %+v, %v", c.method, c.set, updates, err)
		}
	}
}

// A device that normalises bytes comes to the values, to the bit, that images are read as:
// in training views, in test views, and as features of a frozen backbone.
func TestBytesOfImages(t *testing.T) {
	run := resolveOffice(t, drawOffice(t, 2), "full", "dann", "train.batch=8")
	seen := map[bool][]float32{}
	for _, asBytes := range []bool{false, true} {
		d := must.Have(openImages(t.Context(), run, nil, Options{Log: io.Discard, asBytes: asBytes}))(t)
		torch.Tidy(func() {
			take := func(rows torch.Tensor) { seen[asBytes] = append(seen[asBytes], torch.ToSlice[float32](rows)...) }
			for range 3 {
				b := must.Have(d.feed.next(t.Context()))(t)
				if (b.source.bytes != nil) != asBytes || (b.target.floats == nil) != asBytes {
					t.Fatal("bytes and values are mixed up")
				}
				source, target := b.images(torch.CPU)
				take(source)
				take(target)
			}
			for b, err := range d.onSource.batches(t.Context(), 10) {
				if err != nil {
					t.Fatal(err)
				}
				take(b.tensor(torch.CPU))
			}
		})
		must.Do(t, d.close())
	}
	if !slices.Equal(seen[false], seen[true]) || len(seen[true]) == 0 {
		t.Errorf("%d values, not those of %d bytes", len(seen[false]), len(seen[true]))
	}

	frozen := resolveOffice(t, drawOffice(t, 2), "full", "dann", "train.batch=8", "network.frozen=true", "network.views=2", "train.steps=4", "train.eval_every=2")
	dir, _ := train(t, frozen)
	onBytes := begin(t, frozen)
	must.Have(Run(t.Context(), frozen, onBytes, Options{Threads: 1, asBytes: true}))(t)
	if diff := outcomeOf(t, dir).diff(outcomeOf(t, onBytes)); diff != "" {
		t.Errorf("trained on bytes: %s", diff)
	}
}

// What is random in the images of training can be left out.
func TestViewsAsConfigured(t *testing.T) {
	root := drawOffice(t, 1)
	for _, c := range []struct {
		set                 []string
		central, unmirrored bool
	}{{nil, false, false}, {[]string{"dataset.mirror=false"}, false, true}, {[]string{"dataset.random_crop=false", "dataset.mirror=true"}, true, false}} {
		d := imageDomain{run: resolveOffice(t, root, "full", "source-only", c.set...)}
		if o := d.views(4); o.Central != c.central || o.Unmirrored != c.unmirrored {
			t.Errorf("%q: %+v", c.set, o)
		}
	}
}

func TestSubsampledImages(t *testing.T) {
	run := resolveOffice(t, drawOffice(t, 4), "subsampled", "dann", "dataset.fraction=0.5")
	d := must.Have(openImages(context.Background(), run, nil, Options{Log: &bytes.Buffer{}}))(t)
	defer func() { _ = d.close() }()
	counts := d.Labels.Source.Counts(31)
	// floor(31/2) = 15 classes keep 2 of 4.
	if counts[0] != 2 || counts[14] != 2 || counts[15] != 4 || d.Labels.Target.Len() != 4*31 {
		t.Errorf("source counts %v, %d target images", counts, d.Labels.Target.Len())
	}
	read := 0
	for b, err := range d.onSource.batches(context.Background(), 10) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.len() {
			got, known := b.labels.At(i)
			if want, _ := d.Labels.Source.At(read + i); got != want || !known {
				t.Fatalf("image %d has label %d, want %d", read+i, got, want)
			}
		}
		read += b.len()
	}
	if read != d.Labels.Source.Len() {
		t.Errorf("%d source images read, want %d", read, d.Labels.Source.Len())
	}
}

// Batches of image files are drawn without replacement: either domain has to fill one.
func TestDomainSmallerThanABatch(t *testing.T) {
	root := drawOffice(t, 4)
	for _, set := range [][]string{{"network.frozen=true", "network.views=2"}, {"network.frozen=true"}, nil} {
		// 15 classes keep one image of 4: 79 source images.
		run := resolveOffice(t, root, "subsampled", "iwjan", append(set, "dataset.fraction=0.25", "train.batch=80")...)
		_, err := Run(context.Background(), run, begin(t, run), Options{})
		if err == nil || !strings.Contains(err.Error(), "the source of amazon-dslr has 79 rows, less than a batch; train.batch is 80") {
			t.Errorf("%v: error %v", set, err)
		}
	}
}

func TestBrokenImageIsAnErrorAtItsBatch(t *testing.T) {
	root := drawOffice(t, 2)
	broken := filepath.Join(root, "dslr", "images", "bike", "frame_0001.png")
	testfiles.Write(t, broken, "no image")
	run := resolveOffice(t, root, "full", "dann")
	_, err := Run(context.Background(), run, begin(t, run), Options{Threads: 1})
	var file *images.FileError
	if !errors.As(err, &file) || file.Path != broken {
		t.Errorf("error %v", err)
	}
}

func TestAbsentWeightsSayWhereTheyComeFrom(t *testing.T) {
	run := resolveOffice(t, drawOffice(t, 1), "full", "dann", "network.pretrained=/no/resnet18.pth")
	_, err := Run(context.Background(), run, begin(t, run), Options{Threads: 1})
	for _, part := range []string{"network.pretrained", "/no/resnet18.pth", "torchvision", "none"} {
		must.Fail(t, err, part)
	}
}

// A frozen backbone stays as it was, and so does a fine-tuned one's share of the rate.
func TestGroupsOfAResNet(t *testing.T) {
	root := drawOffice(t, 1)
	for method, moves := range map[string]bool{"dann": true, "jan": false} {
		run := resolveOffice(t, root, "full", method)
		trainer := makeTrainer(t, run, Options{Threads: 1, Log: &bytes.Buffer{}})
		conv, head := entry(t, trainer.model.network, "backbone.conv1.weight"), entry(t, trainer.model.network, "classifier.weight")
		convBefore, headBefore := torch.ToSlice[float32](conv), torch.ToSlice[float32](head)
		must.Do(t, trainer.step(context.Background(), position{epoch: 1}))
		if moved := !slices.Equal(convBefore, torch.ToSlice[float32](conv)); moved != moves {
			t.Errorf("%s: the backbone moved: %v", method, moved)
		}
		if slices.Equal(headBefore, torch.ToSlice[float32](head)) {
			t.Errorf("%s: the classifier did not move", method)
		}
		rates := map[float64]bool{}
		for _, g := range trainer.optimisation.groups {
			rates[g.rate] = true
			if g.constant {
				t.Errorf("%s: a group does not follow the schedule", method)
			}
		}
		if rates[1] != moves || !rates[10] {
			t.Errorf("%s: rates %v", method, rates)
		}
		if err := trainer.close(); err != nil {
			t.Error(err)
		}
	}
}

func entry(t *testing.T, network nets.Network, name string) torch.Tensor {
	t.Helper()
	for _, e := range network.State() {
		if e.Name == name {
			return e.Tensor
		}
	}
	t.Fatalf("no %s", name)
	return torch.Tensor{}
}

// Views are drawn in turn, each pass over all rows but the last incomplete batch.
func TestShuffledViews(t *testing.T) {
	const rows, views = 5, 2
	values, labels := make([]float32, rows*views), make([]int, rows*views)
	for i := range values {
		values[i], labels[i] = float32(i), i%rows
	}
	set := must.Have(datasets.NewFeatures("views", values, datasets.KnownLabels(labels), []string{"0", "1", "2", "3", "4"}))(t)
	s := newShuffled([]datasets.Set{set}, set, views, 2, 1)
	if s.passSteps() != 2 {
		t.Errorf("%d steps a pass", s.passSteps())
	}
	orders := map[string]bool{}
	for pass := range 6 {
		seen := map[int64]bool{}
		var order []float32
		for range 2 {
			b := must.Have(s.next(context.Background()))(t)
			for i, v := range b.source.floats {
				if int(v)/rows != pass%views || int64(v)%rows != b.labels[i] || seen[b.labels[i]] {
					t.Fatalf("pass %d: value %v with label %d", pass, v, b.labels[i])
				}
				seen[b.labels[i]] = true
			}
			order = append(order, b.source.floats...)
		}
		orders[fmt.Sprint(order)] = true
	}
	if len(orders) < 3 {
		t.Error("the order does not change")
	}
}

// A copy that lacks images trains, but is no copy of what the paper was made on: the run says so at its
// start and in its result, and so does the command before it starts one.
func TestImagesThatAreNotThePublishedOnes(t *testing.T) {
	root := drawOffice(t, 7)
	left := 2 * 31 * 7
	for _, pattern := range []string{"*/frame_0007.png", "de*/frame_0006.png"} { // of 31 classes, and of three
		paths := must.Have(filepath.Glob(filepath.Join(root, "dslr", "images", pattern)))(t)
		for _, path := range paths {
			testfiles.Remove(t, path)
			left--
		}
	}
	if left != 400 {
		t.Fatalf("%d images, want 400 of Office-31's 4,110", left)
	}
	run := resolveOffice(t, root, "subsampled", "source-only", "train.steps=1", "train.eval_every=1", "train.eval_batch=64")
	var log bytes.Buffer
	result := must.Have(Run(t.Context(), run, begin(t, run), Options{Log: &log}))(t)
	want := []string{"amazon: 217 of 2817 images", "dslr: 183 of 498 images"}
	if !slices.Equal(result.Unpublished, want) {
		t.Errorf("%q in the result, want %q", result.Unpublished, want)
	}
	if !strings.Contains(log.String(), "warning: "+want[0]) {
		t.Errorf("the log does not warn: %s", &log)
	}
	runs := []plan.Run{plan.Of(run)}
	if said := domains.CheckPublished(runs, t.TempDir()); !strings.Contains(said, strings.Join(want, "; ")) {
		t.Errorf("before runs: %q", said)
	}
	if said := domains.CheckPublished([]plan.Run{plan.Of(resolve(t, "full", "dann", 1))}, t.TempDir()); said != "" {
		t.Errorf("of data that are drawn: %q", said)
	}
}
