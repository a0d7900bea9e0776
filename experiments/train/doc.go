// Package train trains one run of an experiment: a method on a task with a seed.
//
// [Run] composes it from parts that know nothing of each other: the task's data, the
// network, the objective (a classification loss and an alignment of the domains), the
// loop, and the duties that hang on the loop as hooks: learning-rate schedule, weight
// estimation, evaluation, progress, files.
package train
