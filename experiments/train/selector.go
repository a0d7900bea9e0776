package train

import (
	"fmt"
	"math"

	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/nets"
	"iwda/selection"
	"iwda/torch"
)

// selector chooses, while a run trains, one of its epochs without labels of the target, and
// remembers that epoch's network if it is to be kept.
//
// The target's class shares, by which some rules weigh source rows, must not follow the network
// that is judged: they are estimated once, from the first evaluation of a trained network, which
// is the last one before domains are aligned where the configuration has such epochs. All
// methods of a task and seed have the same network until then, and so the same shares.
type selector struct {
	rule   string
	first  int // the epoch from whose network on shares are estimated, and epochs chosen
	keeps  bool
	state  func() nets.State // of the network
	shares []float64         // of the target's classes, nil before they are estimated

	step   int     // of the best evaluation so far, 0 before there is one
	value  float64 // of the rule there
	kept   map[string]torch.Tensor
	record *record
}

// selectedPrefix stands, with a dot, before the names of the chosen network's tensors.
const selectedPrefix = "selected"

func newSelector(run config.Resolved, m *model, r *record) *selector {
	return &selector{
		rule: run.Selection.RuleOrDefault(), first: max(1, run.Train.DomainFromEpoch-1),
		keeps: run.Train.Keep == config.KeepSelected,
		state: m.network.State, record: r, kept: map[string]torch.Tensor{},
	}
}

// consider takes the last evaluation into account, of which the record holds the metrics and
// the evidence.
func (s *selector) consider() {
	m := s.record.last()
	e := s.record.evidenceAt(m.Step)
	if m.Epoch < s.first || e == nil {
		return
	}
	if s.shares == nil {
		s.shares = e.Estimated
	}
	value := store.Judge(s.rule, s.shares, s.record.metrics, e)
	if math.IsNaN(value) {
		return
	}
	if s.step > 0 && !s.better(value) {
		return
	}
	s.step, s.value = m.Step, value
	if !s.keeps {
		return
	}
	torch.NoGrad(func() {
		for _, entry := range s.state() {
			s.keep(entry.Name, entry.Tensor.Clone())
		}
	})
}

// judged is the evaluation after that step, which left evidence.
func (s *selector) judged(step int) selection.Judged {
	e := s.record.evidenceAt(step)
	return selection.Judged{Value: store.Judge(s.rule, s.shares, s.record.until(step), e), Evidence: e.Evidence}
}

func (s *selector) better(value float64) bool {
	if selection.RuleIsHigher(s.rule) {
		return value > s.value
	}
	return value < s.value
}

// keep puts a tensor in the place of the one of that name that was kept before.
func (s *selector) keep(name string, tensor torch.Tensor) {
	if former, ok := s.kept[name]; ok {
		former.Release()
	}
	s.kept[name] = torch.Keep(tensor)
}

// finish gives the network the numbers that it had at the chosen evaluation, if that one is to
// be kept, and returns the choice, nil where there was none. Whether the rule prefers the last
// evaluation to the best one is known only now.
func (s *selector) finish() (*store.Selected, error) {
	if s.step == 0 {
		return nil, nil
	}
	if last := s.record.evidenceAt(s.record.last().Step); last != nil && !selection.TakesEarlier(s.rule, s.judged(s.step), s.judged(last.Step), s.shares) {
		s.step = last.Step
		clear(s.kept)
	}
	if len(s.kept) > 0 {
		if err := s.state().Load(s.kept); err != nil {
			return nil, fmt.Errorf("the selected network: %w", err)
		}
		clear(s.kept)
	}
	m := s.record.at(s.step)
	return &store.Selected{Epoch: m.Epoch, Rule: s.rule, Accuracy: m.Accuracy, Kept: s.keeps}, nil
}

func (s *selector) save(to *saving) {
	if s.shares == nil && s.step == 0 {
		return
	}
	to.Selection = &checkpoint.Selection{Shares: s.shares, Step: s.step}
	for name, tensor := range s.kept {
		to.add(selectedPrefix+"."+name, tensor)
	}
}

func (s *selector) restore(from *restoring) error {
	if from.Selection == nil {
		return nil
	}
	s.shares = from.Selection.Shares
	if from.Selection.Step == 0 {
		return nil
	}
	if s.record.evidenceAt(from.Selection.Step) == nil {
		return fmt.Errorf("its selected step, %d, is none of an evaluation", from.Selection.Step)
	}
	s.step = from.Selection.Step
	s.value = s.judged(s.step).Value
	for _, entry := range s.state() {
		tensor := from.takeIfThere(selectedPrefix + "." + entry.Name)
		if tensor.IsZero() { // the network itself is the chosen one, or none is kept
			continue
		}
		s.keep(entry.Name, tensor.To(entry.Tensor.DType(), entry.Tensor.Device()).Clone())
	}
	return nil
}
