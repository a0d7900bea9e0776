// Package config reads experiment files: YAML that says which methods are trained
// on which tasks, how, and with which seeds.
//
// One file is one experiment:
//
//	experiment: digits
//	dataset: {name: digits, root: "${IWDA_DATA:-data}/digits"}
//	tasks: [mnist-usps, usps-mnist]
//	variants: [full, subsampled]
//	methods: [source-only, dann, iwdan]
//	seeds: [1, 2, 3]
//	train: {epochs: 70}
//	overrides:
//	  - when: {task: usps-mnist}
//	    train: {schedule: {every: 6}}
//
// The keys experiment, dataset.name, tasks, variants, methods and seeds must be
// there, but that variants are full where dataset.name is files; every other key has
// the default that Default returns. Names may be written in any case.
//
// # Precedence
//
// A setting is looked up in this order; the first that gives it wins:
//
//  1. assignments, as the command line's --set train.epochs=2 (File.Set), a later
//     one before an earlier one;
//  2. overrides whose condition fits the run, a later one before an earlier one;
//  3. the settings of the file;
//  4. Default.
//
// Settings below a key merge: an override of train.schedule.every leaves
// train.schedule.factor as it is. Lists do not merge; they are replaced.
//
// # Conditions
//
// The condition of an override names any of task, variant, method and seed, each
// with a value, a pattern as in path.Match, or a list of these. It fits a run that
// every named part fits. A pattern that fits nothing in the file is an error.
//
// # Errors
//
// Every function that reads settings returns all mistakes at once, as Errors. Each
// has its place (file:line:column, or the assignment), what is wrong there, and the
// nearest right key or name. Anchors, aliases, merge keys and files of several
// documents are errors too: overrides do what they are for.
package config
