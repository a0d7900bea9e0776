package losses

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"iwda/losses/form"
	"iwda/torch"
)

// problem is a random batch in float64: B rows a domain, k classes, d features.
type problem struct {
	rows, classes, features int
	random                  *rand.Rand
}

func newProblem(seed uint64) problem {
	return problem{7, 4, 5, rand.New(rand.NewPCG(seed, 1))}
}

func (p problem) normal(shape ...int) []float64 {
	n := 1
	for _, s := range shape {
		n *= s
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = p.random.NormFloat64()
	}
	return values
}

func (p problem) labels() []int64 {
	labels := make([]int64, p.rows)
	for i := range labels {
		labels[i] = int64(i % p.classes)
	}
	return labels
}

func vector(values []float64) torch.Tensor { return torch.FromSlice(values, len(values)) }

func closeTo(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func ones(n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = 1
	}
	return values
}

// With weights of 1 and a balanced source every weighted loss is its base.
func TestWeightsOfOneGiveTheBase(t *testing.T) {
	torch.Tidy(func() {
		p := newProblem(1)
		labels := torch.FromSlice(p.labels(), p.rows)
		logits := torch.FromSlice(p.normal(p.rows, p.classes), p.rows, p.classes)
		uniform, w := vector(ones(p.classes)).Scale(1/float64(p.classes)), vector(ones(p.rows))
		source, target := vector(p.normal(p.rows)), vector(p.normal(p.rows))
		certainty := vector(p.normal(p.rows)).Exp().Affine(1, 1)
		layers := p.layers()
		for name, loss := range map[string]func(rowWeights torch.Tensor) torch.Tensor{
			"balanced":    func(w torch.Tensor) torch.Tensor { return BalancedCrossEntropy(logits, labels, uniform, w) },
			"released":    func(w torch.Tensor) torch.Tensor { return ReleasedBalancedCrossEntropy(logits, labels, uniform, w) },
			"adversarial": func(w torch.Tensor) torch.Tensor { return Adversarial(source, target, w) },
			"entropy": func(w torch.Tensor) torch.Tensor {
				return EntropyConditioned(source, target, certainty, certainty, w)
			},
			"unbiased": func(w torch.Tensor) torch.Tensor { return MaximumMeanDiscrepancy(form.Unbiased, w, layers...) },
			"biased":   func(w torch.Tensor) torch.Tensor { return MaximumMeanDiscrepancy(form.Biased, w, layers...) },
		} {
			closeTo(t, name, loss(w).Item(), loss(torch.Tensor{}).Item())
			rowWeights := w.Clone().SetRequiresGrad(true)
			loss(rowWeights).Add(rowWeights.Sum()).Backward()
			if g, _ := rowWeights.Grad(); !slices.Equal(torch.ToSlice[float64](g), ones(p.rows)) {
				t.Errorf("%s: the weights are no constant to autograd", name)
			}
		}
		base := CrossEntropy(logits, labels).Item()
		closeTo(t, "cross entropy", BalancedCrossEntropy(logits, labels, uniform, torch.Tensor{}).Item(), base)
	})
}

// Every form has a loss of its own, and the one whose name says so takes no weights.
func TestClassificationForms(t *testing.T) {
	torch.Tidy(func() {
		p := newProblem(8)
		labels := torch.FromSlice(p.labels(), p.rows)
		logits := torch.FromSlice(p.normal(p.rows, p.classes), p.rows, p.classes)
		distribution := vector([]float64{0.4, 0.3, 0.2, 0.1})
		w := vector([]float64{0.2, 2, 1, 0}).IndexSelect(0, labels)
		values := map[float64]bool{}
		for _, name := range form.ClassificationNames() {
			f := form.Classification(name)
			value := ClassificationOf(f)(logits, labels, distribution, w).Item()
			values[value] = true
			unweighted := BalancedCrossEntropy(logits, labels, distribution, torch.Tensor{}).Item()
			if (value == unweighted) != (f == form.Balanced) {
				t.Errorf("%s is %v, %v without weights", name, value, unweighted)
			}
		}
		if len(values) != len(form.ClassificationNames()) || len(values) != len(classifications) {
			t.Errorf("%d names and %d losses with the values %v", len(form.ClassificationNames()), len(classifications), values)
		}
	})
}

// layers returns random features and predictions of both domains.
func (p problem) layers() []Layer {
	z := func() torch.Tensor { return torch.FromSlice(p.normal(p.rows, p.features), p.rows, p.features) }
	q := func() torch.Tensor {
		return torch.FromSlice(p.normal(p.rows, p.classes), p.rows, p.classes).Softmax(1)
	}
	return []Layer{{z(), z().Affine(1, 0.5), FeatureKernel}, {q(), q(), PredictionKernel}}
}

// Losses are means over rows: their order does not matter.
func TestPermutingRowsChangesNothing(t *testing.T) {
	torch.Tidy(func() {
		p := newProblem(2)
		order := torch.FromSlice([]int64{3, 0, 6, 1, 5, 2, 4}, p.rows)
		permute := func(x torch.Tensor) torch.Tensor { return x.IndexSelect(0, order) }
		labels := torch.FromSlice(p.labels(), p.rows)
		logits := torch.FromSlice(p.normal(p.rows, p.classes), p.rows, p.classes)
		distribution, w := vector([]float64{0.4, 0.3, 0.2, 0.1}), vector([]float64{0.2, 2, 1, 0})
		rowWeights := w.IndexSelect(0, labels)
		closeTo(t, "classification",
			BalancedCrossEntropy(permute(logits), permute(labels), distribution, permute(rowWeights)).Item(),
			BalancedCrossEntropy(logits, labels, distribution, rowWeights).Item())
		source, target := vector(p.normal(p.rows)), vector(p.normal(p.rows))
		closeTo(t, "adversarial",
			Adversarial(permute(source), target, permute(rowWeights)).Item(),
			Adversarial(source, target, rowWeights).Item())
		layers := p.layers()
		permuted := append([]Layer(nil), layers...)
		for i := range permuted {
			permuted[i].Source = permute(permuted[i].Source)
		}
		closeTo(t, "MMD", MaximumMeanDiscrepancy(form.Unbiased, permute(rowWeights), permuted...).Item(),
			MaximumMeanDiscrepancy(form.Unbiased, rowWeights, layers...).Item())
	})
}

// The weighted losses are linear in the weights (the adversarial and classification
// ones), the source part of the MMD quadratic.
func TestScalingTheWeights(t *testing.T) {
	torch.Tidy(func() {
		p := newProblem(3)
		labels := torch.FromSlice(p.labels(), p.rows)
		logits := torch.FromSlice(p.normal(p.rows, p.classes), p.rows, p.classes)
		distribution := vector([]float64{0.4, 0.3, 0.2, 0.1})
		rowWeights := vector([]float64{0.2, 2, 1, 0.5}).IndexSelect(0, labels)
		closeTo(t, "balanced",
			BalancedCrossEntropy(logits, labels, distribution, rowWeights.Scale(3)).Item(),
			3*BalancedCrossEntropy(logits, labels, distribution, rowWeights).Item())
		closeTo(t, "released",
			ReleasedBalancedCrossEntropy(logits, labels, distribution, rowWeights.Scale(3)).Item(),
			3*ReleasedBalancedCrossEntropy(logits, labels, distribution, rowWeights).Item())

		source, target := vector(p.normal(p.rows)), vector(p.normal(p.rows))
		at := func(c float64) float64 { return Adversarial(source, target, rowWeights.Scale(c)).Item() }
		closeTo(t, "adversarial", at(3)-at(0), 3*(at(1)-at(0)))
		closeTo(t, "target part", at(0), target.Neg().LogSigmoid().Mean().Item()/-2)

		layers := p.layers()
		mmd := func(c float64) float64 {
			return MaximumMeanDiscrepancy(form.Biased, rowWeights.Scale(c), layers...).Item()
		}
		quadratic := (mmd(2) - 2*mmd(1) + mmd(0)) / 2
		closeTo(t, "MMD", mmd(5), mmd(0)+5*(mmd(1)-mmd(0)-quadratic)+25*quadratic)
	})
}

// Naming the domains the other way round and flipping the discriminator's sign is the
// same loss, and the MMD is symmetric.
func TestSwappingTheDomains(t *testing.T) {
	torch.Tidy(func() {
		p := newProblem(4)
		source, target := vector(p.normal(p.rows)), vector(p.normal(p.rows))
		closeTo(t, "adversarial", Adversarial(target.Neg(), source.Neg(), torch.Tensor{}).Item(), Adversarial(source, target, torch.Tensor{}).Item())
		if a, b := Adversarial(target, source, torch.Tensor{}).Item(), Adversarial(source, target, torch.Tensor{}).Item(); math.Abs(a-b) < 1e-3 {
			t.Errorf("the adversarial loss does not tell source from target: %v and %v", a, b)
		}
		layers := p.layers()
		swapped := []Layer{
			{layers[0].Target, layers[0].Source, FeatureKernel},
			{layers[1].Target, layers[1].Source, PredictionKernel},
		}
		for _, estimate := range []form.MMD{form.Unbiased, form.Biased} {
			closeTo(t, "MMD", MaximumMeanDiscrepancy(estimate, torch.Tensor{}, swapped...).Item(),
				MaximumMeanDiscrepancy(estimate, torch.Tensor{}, layers...).Item())
		}
	})
}

func TestIdenticalDomainsHaveNoDiscrepancy(t *testing.T) {
	torch.Tidy(func() {
		layers := newProblem(5).layers()
		for i := range layers {
			layers[i].Target = layers[i].Source
		}
		if d := MaximumMeanDiscrepancy(form.Biased, torch.Tensor{}, layers...).Item(); math.Abs(d) > 1e-15 {
			t.Errorf("discrepancy %v", d)
		}
		// All rows the same: the mean distance is 0 and the kernel 1 everywhere.
		same := torch.Full(0.7, torch.Float32, torch.CPU, 6, 3).SetRequiresGrad(true)
		d := MaximumMeanDiscrepancy(form.Biased, torch.Tensor{}, Layer{same, same, FeatureKernel})
		d.Backward()
		if v := d.Item(); v-v != 0 || math.Abs(v) > 1e-6 {
			t.Errorf("discrepancy of constant rows is %v", v)
		}
		finite(t, "gradient of constant rows", gradient(same))
	})
}

// naive computes the released code's double loop in Go.
func TestUnbiasedMMDIsTheDoubleLoop(t *testing.T) {
	torch.Tidy(func() {
		p := newProblem(6)
		layers := p.layers()
		w := p.normal(p.rows)
		b := p.rows
		rows := func(l Layer) [][]float64 {
			x := torch.ToSlice[float64](torch.Cat(0, l.Source, l.Target))
			out := make([][]float64, 2*b)
			for i := range out {
				out[i] = x[i*len(x)/(2*b) : (i+1)*len(x)/(2*b)]
			}
			return out
		}
		distance := func(x, y []float64) (d float64) {
			for i := range x {
				d += (x[i] - y[i]) * (x[i] - y[i])
			}
			return d
		}
		kernel := func(i, j int) float64 {
			product := 1.0
			for _, l := range layers {
				x := rows(l)
				bandwidth := l.Kernel.Bandwidth
				if bandwidth == 0 {
					for a := range x {
						for c := range x {
							bandwidth += distance(x[a], x[c])
						}
					}
					bandwidth /= float64(4*b*b - 2*b)
					bandwidth /= math.Pow(2, float64(l.Kernel.Bandwidths/2))
				}
				sum := 0.0
				for m := range l.Kernel.Bandwidths {
					sum += math.Exp(-distance(x[i], x[j]) / (bandwidth * math.Pow(2, float64(m))))
				}
				product *= sum
			}
			return product
		}
		var within, across, diagonal float64
		for i := range b {
			diagonal += w[i]*w[i]*kernel(i, i) + kernel(b+i, b+i)
			for j := range b {
				if i < j {
					within += w[i]*w[j]*kernel(i, j) + kernel(b+i, b+j)
				}
				across += w[i]*kernel(i, b+j) + w[j]*kernel(j, b+i)
			}
		}
		n := float64(b)
		closeTo(t, "unbiased", MaximumMeanDiscrepancy(form.Unbiased, vector(w), layers...).Item(), within/(n*(n-1)/2)-across/(n*n))
		closeTo(t, "biased", MaximumMeanDiscrepancy(form.Biased, vector(w), layers...).Item(), (2*within+diagonal-across)/(n*n))
	})
}

func finite(t *testing.T, what string, x torch.Tensor) {
	t.Helper()
	for i, v := range torch.ToSlice[float64](x.To(torch.Float64, torch.CPU)) {
		if v-v != 0 {
			t.Errorf("%s: element %d is %v", what, i, v)
			return
		}
	}
}

// A discriminator that is sure of itself, right or wrong, and a classifier likewise.
func TestSaturation(t *testing.T) {
	torch.Tidy(func() {
		for _, logit := range []float64{1e4, -1e4, 80, -80} {
			source := torch.Full(logit, torch.Float32, torch.CPU, 3).SetRequiresGrad(true)
			target := torch.Full(logit, torch.Float32, torch.CPU, 3).SetRequiresGrad(true)
			zeros := torch.Full(0, torch.Float32, torch.CPU, 3)
			certainty := torch.Full(2, torch.Float32, torch.CPU, 3)
			for name, loss := range map[string]torch.Tensor{
				"adversarial":          Adversarial(source, target, torch.Tensor{}),
				"weighted":             Adversarial(source, target, zeros),
				"entropy":              EntropyConditioned(source, target, certainty, certainty, torch.Tensor{}),
				"entropy, all weights": EntropyConditioned(source, target, certainty, certainty, zeros),
			} {
				finite(t, name, loss)
				loss.Backward()
				finite(t, name+" gradient", gradient(source))
				finite(t, name+" gradient", gradient(target))
			}
			// Only one of the two means is large, and it is the logit itself.
			closeTo(t, "value", Adversarial(source, target, torch.Tensor{}).Item(), math.Abs(logit)/2)
		}
		logits := torch.FromSlice([]float32{1e4, -1e4, 0, -1e4, 1e4, 0}, 2, 3).SetRequiresGrad(true)
		labels := torch.FromSlice([]int64{0, 0}, 2)
		distribution := torch.FromSlice([]float32{1, 0, 0}, 3)
		loss := BalancedCrossEntropy(logits, labels, distribution, torch.Tensor{})
		finite(t, "classes that the source lacks", loss)
		loss.Backward()
		finite(t, "its gradient", gradient(logits))
		predictions := torch.FromSlice([]float32{1, 0, 0, 1}, 2, 2).SetRequiresGrad(true)
		e := Certainty(predictions, torch.Number(1))
		finite(t, "certainty of sure predictions", e)
		e.Sum().Backward()
		finite(t, "its gradient", gradient(predictions))
	})
}

// The gradients with respect to every input, in float64. Constants to autograd are
// held constant in the differences too.
func TestGradientsAgainstFiniteDifferences(t *testing.T) {
	p := newProblem(7)
	labels := p.labels()
	logits, z, z2, d1, d2 := p.normal(p.rows, p.classes), p.normal(p.rows, p.features), p.normal(p.rows, p.features), p.normal(p.rows), p.normal(p.rows)
	w := []float64{0.2, 2, 1, 0}
	for name, c := range map[string]struct {
		values []float64
		shape  []int
		loss   func(x torch.Tensor) torch.Tensor
	}{
		"weighted balanced": {logits, []int{p.rows, p.classes}, func(x torch.Tensor) torch.Tensor {
			y := torch.FromSlice(labels, p.rows)
			return BalancedCrossEntropy(x, y, vector([]float64{0.4, 0.3, 0.2, 0.1}), vector(w).IndexSelect(0, y))
		}},
		"adversarial, source": {d1, []int{p.rows}, func(x torch.Tensor) torch.Tensor {
			return Adversarial(x, vector(d2), vector(w).IndexSelect(0, torch.FromSlice(labels, p.rows)))
		}},
		"adversarial, target": {d2, []int{p.rows}, func(x torch.Tensor) torch.Tensor { return Adversarial(vector(d1), x, torch.Tensor{}) }},
		"conditioned": {z, []int{p.rows, p.features}, func(x torch.Tensor) torch.Tensor {
			return Conditioned(x, torch.FromSlice(logits, p.rows, p.classes).Softmax(1)).Square().Sum()
		}},
		"certainty": {logits, []int{p.rows, p.classes}, func(x torch.Tensor) torch.Tensor {
			return Certainty(x.Softmax(1), torch.Number(-1)).Square().Sum() // -1 undoes the reversal
		}},
		"MMD with a fixed bandwidth": {z, []int{p.rows, p.features}, func(x torch.Tensor) torch.Tensor {
			return MaximumMeanDiscrepancy(form.Unbiased, torch.Tensor{}, Layer{x, torch.FromSlice(z2, p.rows, p.features), Kernel{Bandwidths: 3, Bandwidth: 2}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			value := func() (v float64, g []float64) {
				torch.Tidy(func() {
					x := torch.FromSlice(c.values, c.shape...).SetRequiresGrad(true)
					l := c.loss(x)
					v = l.Item()
					l.Backward()
					g = torch.ToSlice[float64](gradient(x))
				})
				return v, g
			}
			_, gradients := value()
			const h = 1e-5
			for i := range c.values {
				saved := c.values[i]
				c.values[i] = saved + h
				above, _ := value()
				c.values[i] = saved - h
				below, _ := value()
				c.values[i] = saved
				if want := (above - below) / (2 * h); math.Abs(gradients[i]-want) > 1e-7 {
					t.Fatalf("element %d: gradient %v, finite difference %v", i, gradients[i], want)
				}
			}
		})
	}
}

// Distances, and so gradients, do not depend on where the rows lie, also in float32 a thousand
// deviations from zero. All values are multiples of 1/64, which float32 has exactly there.
func TestDiscrepancyFarFromZero(t *testing.T) {
	torch.Tidy(func() {
		p := newProblem(11)
		rows := p.normal(2, p.rows, p.features)
		gradient := func(shift float64) (loss float64, of []float32) {
			values := make([]float32, len(rows))
			for i, v := range rows {
				values[i] = float32(math.Round(64*v)/64 + shift)
			}
			x := torch.FromSlice(values, 2*p.rows, p.features).SetRequiresGrad(true)
			l := MaximumMeanDiscrepancy(form.Biased, torch.Tensor{}, Layer{x.Narrow(0, 0, p.rows), x.Narrow(0, p.rows, p.rows), FeatureKernel})
			l.Backward()
			g, _ := x.Grad()
			return l.Item(), torch.ToSlice[float32](g)
		}
		want, wantOf := gradient(0)
		got, of := gradient(1000)
		if math.Abs(got-want) > 1e-5*math.Abs(want) {
			t.Errorf("loss %v, near zero %v", got, want)
		}
		scale := float64(max(slices.Max(wantOf), -slices.Min(wantOf)))
		for i := range of {
			if math.Abs(float64(of[i]-wantOf[i])) > 1e-4*scale {
				t.Fatalf("gradient %v, near zero %v", of, wantOf)
			}
		}
	})
}
