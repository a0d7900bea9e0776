package predict

import (
	"fmt"
	"runtime"

	"iwda/datasets"
	"iwda/experiments/model"
	"iwda/torch"
)

// Features returns what a model's network makes of rows before its classifier, row-major, and their
// width. There must be a row. The rows are those that [normalise.Normalisation.OnSource] or OnTarget
// returns: they are not normalised here.
func Features(m model.Model, rows datasets.Set, o Options) (values []float32, width int, err error) {
	o = o.orUsual()
	runtime.LockOSThread() // as for eachBatch
	defer runtime.UnlockOSThread()
	torch.SetThreads(o.Threads)
	m.Network.State().Move(torch.Float32, o.Device)
	size, most := datasets.Size(rows.Shape()), datasets.BatchRows(o.Batch, rows.Len(), rows.Shape())
	batch := make([]float32, most*size)
	for first := 0; first < rows.Len(); first += most {
		n := min(most, rows.Len()-first)
		for i := range n {
			rows.CopyRow(batch[i*size:(i+1)*size], first+i)
		}
		err = torch.Try(func() {
			torch.NoGrad(func() {
				torch.Tidy(func() {
					x := torch.FromSlice(batch[:n*size], append([]int{n}, rows.Shape()...)...)
					features, _ := m.Network.Forward(x.To(torch.Float32, o.Device), false)
					values = append(values, torch.ToSlice[float32](features)...)
				})
			})
		})
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", rows.Name(), err)
		}
	}
	return values, len(values) / rows.Len(), nil
}
