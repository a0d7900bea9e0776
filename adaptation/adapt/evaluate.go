package adapt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/judge"
	"iwda/adaptation/labels"
	"iwda/adaptation/predict"
	"iwda/datasets/catalogue"
	"iwda/datasets/table"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/experiments/engine"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/internal/input"
	"iwda/internal/printable"
	"iwda/internal/wholefile"
)

// EvaluateOptions are those of [Evaluate].
type EvaluateOptions struct {
	// Groups names the column of the labels that says which rows belong together; "" if rows were drawn one by one.
	Groups string
	// Choose has the method predict that the labels say is clearly better, if there is one.
	Choose bool
	// Torch, Device and Threads are those of [predict.Options].
	Torch   *engine.Process
	Device  string
	Threads int
	Trust   model.Trust
}

// Evaluate says by a file of labels of some rows how often predictions are right: those in the
// folder that [Plan.Run] left, and those of each method among its runs, or the predictions.csv of
// any other folder, or a .csv file of them. The rows are matched by their ids.
func Evaluate(ctx context.Context, of, labelFile string, o EvaluateOptions) (*labels.Evaluation, error) {
	info, err := os.Stat(of)
	if err != nil {
		return nil, err
	}
	predictions, adapted := of, false
	var former *Outcome
	if info.IsDir() {
		predictions = filepath.Join(of, names.Predictions)
		former, err = ReadOutcome(of)
		if adapted = err == nil; !adapted && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if o.Choose && !adapted {
		return nil, input.Wrong(fmt.Errorf("%s is not a finished folder of iwrun adapt: there are no methods to choose from", of))
	}
	if o.Choose {
		rewritten := slices.DeleteFunc(Files(of), func(path string) bool { return filepath.Base(path) == names.ToLabel })
		if err := wholefile.CheckApart(rewritten, []string{labelFile}); err != nil {
			return nil, input.Wrong(err)
		}
	}
	classes, err := table.ClassesOf(predictions)
	if err != nil {
		return nil, err
	}
	origin, withAll := predictions, classes != nil
	if adapted {
		origin, classes = filepath.Join(of, names.Outcome), former.classNames()
	}
	given, err := labels.Read(labelFile, classes, origin, o.Groups)
	if err != nil {
		return nil, err
	}
	matched, err := labels.Match(predictions, given)
	if err != nil {
		return nil, err
	}
	e := labels.Evaluate(given, matched)
	if !adapted {
		return e, nil
	}
	if e.Methods, err = o.methods(ctx, of, former.Correction, given, matched); (errors.Is(err, errNotThere) || model.Untrusted(err)) && !o.Choose {
		e.Notes = append(e.Notes, fmt.Sprintf("The methods cannot be evaluated: %v.", err))
		return e, nil
	}
	if err == nil {
		e.Notes = append(e.Notes, untrained(of, e.Methods)...)
	}
	if err == nil && o.Choose {
		err = o.choose(ctx, of, e, former, withAll)
	}
	return e, err
}

// untrained says which methods of a folder's experiment are none of those that have finished runs, and how to train them.
func untrained(folder string, finished []labels.Method) (notes []string) {
	path := filepath.Join(folder, names.Experiment)
	file, err := config.Load(path)
	if err != nil {
		return nil // as those runs were found by it
	}
	train := []string{"iwrun", "run", "-c", path, "-o", filepath.Join(folder, names.Runs)}
	var untrained []string
	for _, method := range file.Config.Methods {
		if !slices.ContainsFunc(finished, func(m labels.Method) bool { return m.Method == method }) {
			untrained, train = append(untrained, method), append(train, "--only", "*/*/"+method+"/*")
		}
	}
	if untrained == nil {
		return nil
	}
	return []string{fmt.Sprintf("Without a finished run, because it could not predict or failed: %s. To compare such methods too: %s", printable.And(untrained), printable.Command(train...))}
}

// Reads are the paths of the files of a folder, and of its domains, that [Evaluate] may read.
func Reads(folder string) []string {
	paths := append(Files(folder), folder)
	if file, err := config.Load(filepath.Join(folder, names.Experiment)); err == nil {
		for _, files := range domainFiles(file) {
			paths = append(paths, files.Path)
		}
	}
	return paths
}

// errNotThere is wrapped if source or target are not where they were.
var errNotThere = errors.New("is not there")

// finished returns those runs of the experiment of an adaptation's folder that are finished.
func finished(folder string) ([]plan.Run, error) {
	file, err := config.Load(filepath.Join(folder, names.Experiment))
	if err != nil {
		return nil, err
	}
	runs, err := runsOf(file)
	if err != nil {
		return nil, err
	}
	if runs = plan.Finished(runs, filepath.Join(folder, names.Runs)); len(runs) == 0 {
		return nil, fmt.Errorf("%s: no run with the settings of %s is finished", folder, names.Experiment)
	}
	return runs, nil
}

// methods says how often each method among the finished runs is right, all its runs together, corrected
// as what predicts is. All pass over the target at once.
func (o EvaluateOptions) methods(ctx context.Context, folder string, correction judge.Correction, given labels.Labels, matched *labels.Predictions) (methods []labels.Method, err error) {
	runs, err := finished(folder)
	if err != nil {
		return nil, err
	}
	files := runs[0].Config.Dataset.Domains // the target last
	var paths []string
	for _, of := range files {
		paths = append(paths, of.Path)
		if _, err := os.Stat(of.Path); err != nil {
			return nil, fmt.Errorf("the %s %w: %w", of.Domain, errNotThere, err)
		}
	}
	results := filepath.Join(folder, names.Runs)
	if other, err := domains.OfOtherData(runs, results); err != nil {
		return nil, err
	} else if len(other) > 0 {
		return nil, config.Error{Location: other[0].Dir(results).String(), Message: fmt.Sprintf("was trained on %s, which have changed since: restore them, or run iwrun adapt with another folder; if the labels belong to the former rows, name %s instead of the folder",
			printable.And(paths), filepath.Join(folder, names.Predictions))}
	}
	target := files[len(files)-1]
	var folders []string
	var called []string // of the methods
	var ids [][]string  // of the runs of each
	for _, run := range runs {
		if n := len(called); n == 0 || called[n-1] != run.ID.Method {
			called, ids = append(called, run.ID.Method), append(ids, nil)
		}
		ids[len(ids)-1] = append(ids[len(ids)-1], run.ID.String())
		folders = append(folders, run.Dir(results).String())
	}
	members, err := o.Trust.OpenMembers(folders)
	if err != nil {
		return nil, err
	}
	correct(members, correction)
	input, err := predict.Open(target.Path, target.Roles, members[0].Folder, members[0].Metadata)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, input.Close()) }()
	all := predict.NewEnsemble(members, predict.Options{Torch: o.Torch, Device: o.Device, Threads: o.Threads})
	var ensembles []predict.Ensemble
	var shares [][][]float64
	var rivals []*labels.Rival
	for i, name := range called {
		e := all[:len(ids[i])]
		all = all[len(e):]
		corrected, err := e.Shares(ctx, predict.ModelShares, nil)
		if err != nil {
			return nil, fmt.Errorf("class shares of %s: %w", name, err)
		}
		ensembles, shares, rivals = append(ensembles, e), append(shares, corrected), append(rivals, labels.NewRival(given, matched))
	}
	classes := members[0].Classes
	err = predict.EachOf(ctx, []predict.Input{input}, ensembles, shares, func(which int, id string, probabilities []float32) error {
		class := table.Largest(probabilities)
		return rivals[which].Add(id, classes[class], float64(probabilities[class]))
	})
	if err != nil {
		return nil, err
	}
	for i, r := range rivals {
		m, err := r.Method(called[i], ids[i], len(rivals))
		if err != nil {
			return nil, err
		}
		methods = append(methods, m)
	}
	return methods, nil
}

// domainFiles are where the domains of an experiment are.
func domainFiles(file *config.File) map[string]catalogue.Files {
	files := map[string]catalogue.Files{}
	for _, domain := range file.Config.Dataset.Domains {
		files[domain.Domain] = domain
	}
	return files
}
