package domains

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/internal/input"
)

// CheckSame finds finished runs of other data, as from files that have changed since,
// which would be taken for runs of these. They are an error. With overwrite all runs of their tasks are
// removed, whose checkpoints are of other data too.
func CheckSame(runs []plan.Run, results string, overwrite bool) error {
	other, err := OfOtherData(runs, results)
	switch {
	case err != nil || len(other) == 0:
		return err
	case !overwrite:
		return config.Error{Location: other[0].Dir(results).String(), Message: "was trained on other data than these, which have changed since; " +
			"choose another folder with -o, train again with --overwrite, or let its model predict these with iwrun predict"}
	}
	return clearRuns(slices.DeleteFunc(slices.Clone(runs), func(run plan.Run) bool {
		return !slices.ContainsFunc(other, func(o plan.Run) bool { return o.ID.Task == run.ID.Task })
	}), results)
}

// OfOtherData returns the first finished run of each task that was made of other data than those that
// are there now.
func OfOtherData(runs []plan.Run, results string) (other []plan.Run, err error) {
	same, changed := map[string]bool{}, map[string]bool{} // by data, by task
	for _, run := range runs {
		result, finished := run.Finished(results)
		if !finished || result.DataSHA256 == "" || same[result.DataSHA256] || changed[run.ID.Task] {
			continue
		}
		sum, err := dataSHA256(run.Config)
		if err != nil {
			return nil, err
		}
		if same[sum] = true; sum != result.DataSHA256 {
			changed[run.ID.Task] = true
			other = append(other, run)
		}
	}
	return other, nil
}

// CheckSameWeights finds finished runs of which the file of pretrained weights or the module was
// another one of that name. They are an error, or removed with overwrite.
func CheckSameWeights(runs []plan.Run, results string, overwrite bool) error {
	sums := map[string]string{}
	for _, run := range runs {
		path := cmp.Or(run.Config.Network.File, run.Config.Network.Pretrained)
		result, finished := run.Finished(results)
		if !finished || result.WeightsSHA256 == "" {
			continue
		}
		if _, known := sums[path]; !known {
			sum, err := input.SHA256(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // finished runs need it no more
			}
			if err != nil {
				return err
			}
			sums[path] = sum
		}
		switch {
		case sums[path] == result.WeightsSHA256:
		case !overwrite:
			return config.Error{Location: run.Dir(results).String(), Message: fmt.Sprintf("was trained from another file than %s, which has changed since; "+
				"choose another folder with -o, or train again with --overwrite", path)}
		default:
			if err := clearRuns([]plan.Run{run}, results); err != nil {
				return err
			}
		}
	}
	return nil
}

// clearRuns removes what the runs left.
func clearRuns(runs []plan.Run, results string) error {
	for _, run := range runs {
		dir := run.Dir(results)
		lock, err := dir.Lock()
		if err != nil {
			return err
		}
		if err := errors.Join(dir.Clear(), lock.Close()); err != nil {
			return err
		}
	}
	return nil
}

// OfOwnRows returns the runs whose data are files of rows that the experiment names:
// published data do not change, and images take long to read.
func OfOwnRows(runs []plan.Run) (own []plan.Run) {
	for _, run := range runs {
		if data, err := run.Config.Dataset.Described(); err == nil && data.Named() && data.Kind == catalogue.Vectors {
			own = append(own, run)
		}
	}
	return own
}

// CheckPublished says, in a sentence, which of the published data that unfinished runs need are not as
// they were published; "" if there are none. Data that cannot be read are for the runs to report.
func CheckPublished(runs []plan.Run, results string) string {
	var all []string
	seen := map[string]bool{} // tasks
	for _, run := range runs {
		data, err := run.Config.Dataset.Described()
		key := run.ID.Task + " " + run.Config.Dataset.Root
		if err != nil || !data.Checkable() || seen[key] {
			continue
		}
		if _, finished := run.Finished(results); finished {
			continue
		}
		seen[key] = true
		var problems []string
		if data.Kind == catalogue.ImageFiles {
			if task, err := FindImages(run.Config); err == nil {
				problems = Unpublished(run.Config, task.Source.PartLabels(), task.Target.Counts(), nil)
			}
		} else if task, err := Load(run.Config); err == nil {
			problems = unpublished(run.Config, task)
			task.Close() // of sets in memory
		}
		for _, problem := range problems {
			if !slices.Contains(all, problem) {
				all = append(all, problem)
			}
		}
	}
	if all == nil {
		return ""
	}
	return "the data are not the published ones, so tables will not show the paper's numbers beside theirs: " + strings.Join(all, "; ")
}

// dataSHA256 reads the data of a run and returns what its result says of them.
func dataSHA256(run config.Resolved) (sum string, err error) {
	described, err := run.Dataset.Described()
	if err != nil {
		return "", err
	}
	if described.Kind == catalogue.ImageFiles {
		task, err := FindImages(run)
		if err != nil {
			return "", err
		}
		return Fingerprint(task)
	}
	task, err := Load(run)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, task.Close()) }()
	source, target, test, err := SubsampleTask(run, task)
	if err != nil {
		return "", err
	}
	return datasets.Fingerprint(source, target, test), nil
}
