// Package store keeps the results of runs on disk: a folder a run, whole files
// only, readable with any text editor.
//
//	results/<experiment>/<variant>/<source>-<target>/<method>/seed-<n>/
//	    config.yaml             the configuration of this run, fully resolved
//	    metrics.csv             a line an evaluation: Metrics
//	    weights.csv             a line an update of the class weights: WeightUpdate
//	    result.json             the finished run: Result
//	    error.txt               why the run failed, if it did
//	    log.txt                 what the run printed
//	    checkpoint.safetensors  where an interrupted run goes on
//	    lock                    held by the process that makes the run: Lock
//
// A run is finished when its result.json is there and its configuration hash
// fits. Every file but log and lock is replaced in one step: a reader sees the former
// file or the new one, never a part.
package store
