package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"iwda/experiments/adapt"
	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/experiments/train"
	"iwda/internal/wholefile"
)

// adaptation is what follows from the data and the options.
type adaptation struct {
	file     *config.File
	text     []byte // of the file
	runs     []plan.Run
	problems []string // sentences that stand in the report
}

// plan looks at the data, says what it sees, and plans the runs.
func (o adaptOptions) plan(s streams) (adaptation, error) {
	_, missing := os.Stat(o.path(adapt.ExperimentFile))
	data, err := adapt.Look(o.Source, o.Target, errors.Is(missing, fs.ErrNotExist))
	if err != nil {
		return adaptation{}, err
	}
	fmt.Fprintln(s.err, data)
	var a adaptation
	if a.file, err = o.experiment(data); err != nil {
		return adaptation{}, err
	}
	a.problems = data.Warnings(&a.file.Config)
	for _, warning := range a.problems {
		fmt.Fprintln(s.err, warning)
	}
	if a.text, err = a.file.Text(); err != nil {
		return adaptation{}, err
	}
	if a.runs, err = plan.Runs(a.file); err != nil {
		return adaptation{}, err
	}
	return a, adapt.CheckRuns(a.file.Name, a.runs)
}

// leaveOut takes runs that failed for ones that were not planned, but that the reason is told.
func (a *adaptation) leaveOut(failed []schedule.Failure) {
	for _, failure := range failed {
		a.runs = slices.DeleteFunc(a.runs, func(r plan.Run) bool { return r.ID == failure.Run.ID })
		reason, _, _ := strings.Cut(failure.Reason, "\n")
		a.problems = append(a.problems, fmt.Sprintf("%s failed and is left out: %s.", failure.Run.ID, reason))
	}
}

// experiment returns the experiment file that the folder has, which may have been
// changed by hand, or else the one that follows from the data, with the assignments made.
func (o adaptOptions) experiment(data adapt.Data) (*config.File, error) {
	path := o.path(adapt.ExperimentFile)
	assignments := o.Set
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o.newExperiment(path, data)
	case err != nil:
		return nil, err
	case o.Steps > 0:
		assignments = append(data.Length(o.Steps), o.Set...)
	}
	return assigned(path, text, data, assignments)
}

// newExperiment returns the experiment file that follows from the data, with the assignments
// made.
func (o adaptOptions) newExperiment(path string, data adapt.Data) (*config.File, error) {
	file, err := o.follow(path, data)
	if err != nil {
		return nil, err
	}
	// Other settings and comments depend on how features are normalised: where that is asked for,
	// nothing of what was decided stays, and then the scale that is asked for counts.
	for _, scale := range []string{"", config.SharedScale} {
		n := file.Config.Network
		if n.Normalise == data.Normalisation.Way && n.Scale == data.Normalisation.Scale {
			break
		}
		data.Normalisation = adapt.AskedFor(n.Normalise, scale)
		if file, err = o.follow(path, data); err != nil {
			return nil, err
		}
	}
	return file, nil
}

// follow returns the experiment file as the data have it, with the assignments made.
func (o adaptOptions) follow(path string, data adapt.Data) (*config.File, error) {
	text, err := data.Experiment(o.Steps)
	if err != nil {
		return nil, err
	}
	return assigned(path, text, data, o.Set)
}

// assigned returns an experiment file of the data with the assignments made.
func assigned(path string, text []byte, data adapt.Data, assignments []string) (*config.File, error) {
	file, err := config.Parse(path, text)
	if err != nil {
		return nil, err
	}
	if err := file.Set(assignments); err != nil {
		return nil, err
	}
	return file, data.CheckExperiment(file)
}

func (o adaptOptions) writeExperiment(text []byte) error {
	if err := os.MkdirAll(o.Folder, 0o777); err != nil {
		return fmt.Errorf("cannot create the folder of the results: %w", err)
	}
	return wholefile.Write(o.path(adapt.ExperimentFile), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// checkRuns finds, before the experiment file is replaced, data that are missing and runs that
// another one left.
func (o adaptOptions) checkRuns(runs []plan.Run) error {
	if err := plan.CheckData(runs); err != nil {
		return err
	}
	for _, run := range runs {
		differences, err := run.Conflict(run.Dir(o.runs()))
		if err == nil && len(differences) > 0 && !o.Schedule.Overwrite {
			return config.Error{Location: run.Dir(o.runs()).String(), Message: "holds a result or a checkpoint of another configuration:\n" +
				strings.Join(differences, "\n") + "\nchoose another folder with -o, or begin anew with --overwrite, which removes what is there"}
		}
	}
	if err := train.CheckSameData(runs, o.runs(), o.Schedule.Overwrite); err != nil {
		return err
	}
	return schedule.CheckResults(runs, o.runs())
}
