package adapt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/labels"
	"iwda/adaptation/predict"
	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/experiments/engine"
	"iwda/experiments/fit"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/inference/trust"
	"iwda/internal/input"
	"iwda/internal/printable"
	"iwda/nets/architecture"
)

// Plan is what an adaptation does with its data.
type Plan struct {
	Data     Data
	Text     []byte // of experiment.yaml
	Runs     []plan.Run
	Warnings []string // what to know of the data, sentences

	options Options
	began   time.Time
	kept    bool // the experiment file was there
	file    *config.File
	stages  stages

	answered bool // the first answer was given
}

// NewPlan looks at sources and a target and plans, and writes nothing. The experiment file is the one
// that the folder has, or else the one that follows from the data.
func NewPlan(sources []string, target string, o Options) (*Plan, error) {
	began := time.Now()
	if err := checkApart(o.Folder, append(slices.Clip(sources), target)...); err != nil {
		return nil, err
	}
	if file, err := config.Load(filepath.Join(o.Folder, names.Experiment)); err == nil { // what is wrong with it is said below
		o.Columns.before = domainFiles(file)
	}
	data, err := Look(sources, target, o.Columns)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(data, o)
	if err != nil {
		return nil, err
	}
	p.began = began
	return p, nil
}

// newPlan is [NewPlan] of data that were looked at.
func newPlan(data Data, o Options) (*Plan, error) {
	if data.Target.labelled() == data.Target.Rows {
		o.LabelRows = -1 // there is nothing to label
	}
	if _, err := trust.ParseNeeds(o.Needs, data.Classes); err != nil {
		return nil, err
	}
	p := &Plan{Data: data, options: o}
	path := p.path(names.Experiment)
	text, err := input.Read(path, input.Text)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err != nil && !fresh {
		return nil, err
	}
	if fresh {
		if err := checkForeign(o.Folder); err != nil {
			return nil, err
		}
	}
	p.kept = !fresh
	if fresh {
		if text, err = p.Data.Experiment(o); err == nil {
			p.file, err = p.Data.parse(path, text, o.Set)
		}
	} else {
		assignments := o.Set
		if o.Steps > 0 {
			assignments = append(p.Data.lengthSet(o.Steps), assignments...)
		}
		if o.LabelShift {
			assignments = append([]string{"selection.label_shift=true"}, assignments...)
		}
		p.file, err = p.Data.parse(path, text, assignments)
		if err == nil && o.Network == SmallNetwork && p.file.Config.Network.Name != string(architecture.LeNet) {
			err = config.Error{Location: p.file.Name, Message: fmt.Sprintf("has the network %s; for the small one, choose another folder with -o, or remove the file", p.file.Config.Network.Name)}
		}
	}
	if err != nil {
		return nil, err
	}
	if p.Text, err = p.file.Text(); err != nil {
		return nil, err
	}
	if p.Runs, err = runsOf(p.file); err != nil {
		return nil, err
	}
	p.stages = stagesOf(p.Runs, p.file.Config.Selection)
	if fresh && o.alone == nil && data.Kind == catalogue.Vectors && !data.table() && plan.AnySteps(p.Runs) { // images take it in any case
		if _, err := o.Torch.Command("aligning domains"); errors.Is(err, engine.ErrMissing) {
			o.alone = err
			return newPlan(data, o)
		}
	}
	p.Warnings = p.Data.Warnings(&p.file.Config)
	if err := p.trustModules(); err != nil {
		return nil, err
	}
	if alike := p.file.Config.Selection.SameMeaning; o.Sets > 0 && slices.ContainsFunc(p.Runs, func(run plan.Run) bool {
		return !run.Config.WithoutSteps() && (len(alike) == 0 || slices.Contains(alike, run.Config.Method))
	}) {
		return nil, fmt.Errorf("--sets: %w", predict.ErrNoSets) // before anything is trained
	}
	if o.alone != nil {
		p.Warnings = append(p.Warnings, fmt.Sprintf("No method aligns the domains, and how much one would have changed is not known: %v.", o.alone))
	}
	if never := plan.NeverAligned(p.Runs); never != "" {
		p.Warnings = append(p.Warnings, never)
	}
	return p, p.Data.checkRuns(p.file, p.Runs)
}

// runsOf returns the runs of an experiment, those without steps for its first seed alone: each is the mean of several
// already, or nothing in it is random.
func runsOf(file *config.File) ([]plan.Run, error) {
	runs, err := plan.Runs(file)
	return slices.DeleteFunc(runs, func(run plan.Run) bool { return run.Config.WithoutSteps() && run.ID.Seed != file.Config.Seeds[0] }), err
}

// trustModules adds to the modules that may run those that this command names by itself, whatever
// the folder held before. Another one of the runs is an error.
func (p *Plan) trustModules() error {
	text, err := p.Data.Experiment(p.options)
	if err != nil {
		return err
	}
	if own, err := p.Data.parse(p.file.Name, text, p.options.Set); err == nil {
		p.options.Trust.Files = append(slices.Clone(p.options.Trust.Files), own.Config.Network.File)
	}
	for _, run := range p.Runs {
		if file := run.Config.Network.File; file != "" {
			if err := p.options.Trust.CheckFile(file); err != nil {
				return fmt.Errorf("%s: %w", p.file.Name, err)
			}
		}
	}
	return nil
}

// checkRuns returns an error where runs of the experiment could be trained, but nothing be
// chosen among them or predicted with them.
func (d Data) checkRuns(file *config.File, runs []plan.Run) error {
	how := file.Config.Selection
	if how.LabelShift && !slices.ContainsFunc(runs, func(run plan.Run) bool { return slices.Contains(how.SameMeaning, run.Config.Method) }) {
		return config.Error{Location: file.Name, Message: fmt.Sprintf("selection.label_shift has the methods of selection.alike predict; add one of %s to methods", printable.Or(how.SameMeaning))}
	}
	for _, run := range runs {
		refused := fit.CheckClasses(run.Config, len(d.Classes))
		switch {
		case refused != nil:
			return config.Error{Location: file.Name, Message: refused.Error()}
		case run.Config.Task != d.Task():
			return config.Error{Location: file.Name, Message: fmt.Sprintf("task %s is not that of these files: leave tasks at [%s], exchange sources and target, or choose another folder with -o", run.Config.Task, d.Task())}
		case run.Config.Weights.Shares != nil:
			return config.Error{Location: file.Name, Message: "weights.shares is for iwrun run: adapt estimates class shares, with intervals; to correct its predictions for shares that you know, leave the key out, and then run iwrun predict with --shares FILE"}
		case run.Config.Train.Validation == 0:
			return config.Error{Location: file.Name, Message: fmt.Sprintf("train.validation is 0 for %s: without held-out source rows nothing can be calibrated or chosen; set it to the share to hold out, such as 0.1", run.ID)}
		}
	}
	return d.checkParts(runs)
}

// checkParts returns an error for a class that is too rare in one source of several to have a weight there, if a run
// gives it one.
func (d Data) checkParts(runs []plan.Run) error {
	if !slices.ContainsFunc(runs, func(run plan.Run) bool { return run.Config.Apart() }) {
		return nil
	}
	for _, of := range d.Parts {
		if rare, what := d.rareClasses(of); rare != "" {
			return fmt.Errorf("%s: with class weights for each source, each needs at least %d %s of each class; %s in %s: add rows, or take the sources as one with --set dataset.pool=true", of.Path, fewestRows, what, rare, of.called())
		}
	}
	return nil
}

// decisions says what was decided by the data.
func (p *Plan) decisions() []Decision {
	because := func(reason string) string {
		if p.kept {
			return "set in experiment.yaml"
		}
		return reason
	}
	c := p.file.Config
	length := printable.Count(c.Train.Steps, "step")
	if c.Train.Steps == 0 {
		length = fmt.Sprintf("%s of batches of %d", printable.Count(c.Train.Epochs, "epoch"), c.Train.Batch)
	}
	var all []Decision
	if choice, evidence := p.Data.together(); choice != "" {
		all = append(all, Decision{"groups", choice, because(evidence)})
	}
	if n := len(p.Data.Parts); n > 0 {
		choice := "taken as one"
		if slices.ContainsFunc(p.Runs, func(run plan.Run) bool { return run.Config.Apart() }) {
			choice = "each with its own class weights"
		}
		all = append(all, Decision{"sources", fmt.Sprintf("%d, %s", n, choice), because("methods that make steps weigh each source by itself, others do not")})
	}
	if slices.ContainsFunc(p.Runs, func(run plan.Run) bool { return !run.Config.WithoutSteps() }) {
		all = append(all, Decision{"length", length, because("follows from the numbers of rows, columns and classes")})
	}
	if p.Data.Kind == catalogue.ImageFiles {
		all = append(all, Decision{"views", trainedViews(c.Dataset), because("left and right, and any part, usually tell the class; small pictures are shown whole")})
	} else {
		what, number := "array: all columns may have moved", "%s, %d or more"
		if p.Data.table() {
			what, number = "table: each column means the same in both domains", "%s, fewer than %d"
		}
		reason := fmt.Sprintf(number, printable.Count(p.Data.columns(), "column"), fewColumns)
		if c.Selection.LabelShift {
			what = "only the class shares differ"
		}
		if c.Selection.LabelShift || p.Data.Form != "" {
			reason = "you said so"
		}
		all = append(all, Decision{"assumption", what, because(reason)})
	}
	return all
}

// trainedViews says what training sees of an image file.
func trainedViews(d config.Dataset) string {
	seen := "training sees a random part of each image"
	if d.RandomCrop == config.Off {
		seen = "training sees each image as it is evaluated"
	}
	if d.Mirror == config.Off {
		return seen + ", never mirrored"
	}
	return seen + ", mirrored half of the time; set dataset.mirror=false if left and right tell classes apart"
}

// askedFor returns the way in which assignments have columns normalised, "" for none.
func askedFor(assignments []string) (way string) {
	for _, set := range assignments {
		if asked := normaliseSet.FindStringSubmatch(set); asked != nil {
			way = asked[1]
		}
	}
	return way
}

var normaliseSet = regexp.MustCompile(`^network(?:\.normalise=|=.*\bnormalise: *)["']?(\w+)`)

// parse returns an experiment file of the data with the assignments made.
func (d Data) parse(path string, text []byte, assignments []string) (*config.File, error) {
	file, err := config.Parse(path, text)
	if err != nil {
		return nil, err
	}
	if err := file.Set(assignments); err != nil {
		return nil, err
	}
	return file, d.checkExperiment(file)
}

// check finds, before the experiment file is replaced, data that are missing and runs that
// another one left.
func (p *Plan) check(ctx context.Context) error {
	if err := p.CheckFiles(); err != nil {
		return err
	}
	for _, run := range p.Runs {
		dir := run.Dir(p.results())
		differences, err := run.Conflict(dir)
		if err == nil && len(differences) > 0 && !p.options.Overwrite {
			return config.Error{Location: dir.String(), Message: "holds a result or a checkpoint of another configuration:\n" +
				strings.Join(differences, "\n") + "\nchoose another folder with -o, or train again with --overwrite, which removes what is there"}
		}
	}
	if path := p.path(names.ToLabel); p.options.Overwrite && labels.StateOf(path).Touched {
		if other, err := domains.OfOtherData(p.Runs, p.results()); err != nil {
			return err
		} else if len(other) > 0 {
			return config.Error{Location: path, Message: "has labels of rows of former data, which have changed since; rename the file"}
		}
	}
	if err := domains.CheckSameWeights(p.Runs, p.results(), p.options.Overwrite); err != nil {
		return err
	}
	if err := domains.CheckSame(p.Runs, p.results(), p.options.Overwrite); err != nil {
		return err
	}
	if err := p.checkImages(ctx); err != nil {
		return err
	}
	return schedule.CheckResults(p.Runs, p.results())
}

// CheckFiles returns an error for files that training would miss.
func (p *Plan) CheckFiles() error { return checkData(p.Runs) }

// checkData returns an error for files that are missing. If these are a network's weights, it says
// what can be done without them.
func checkData(runs []plan.Run) error {
	for _, run := range runs {
		if missing := run.Config.Network.MissingWeights(); missing != "" {
			return config.Error{Location: "images", Message: missing + "\nor use --network small, a small network that is trained from scratch, for images of few pixels," +
				"\nor give files with the features of your own network, as in iwrun adapt source.npz target.npz"}
		}
	}
	return plan.CheckData(runs)
}

// checkImages reads all images before something is trained, and warns of
// what is seen.
func (p *Plan) checkImages(ctx context.Context) error {
	if p.Data.Kind != catalogue.ImageFiles {
		return nil
	}
	notes, err := domains.CheckImages(ctx, p.Runs[0].Config)
	p.Warnings = append(p.Warnings, notes...)
	return input.Wrong(err)
}
