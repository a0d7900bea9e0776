// Package judge compares the finished runs of a task without labels of its target, and chooses
// one of them.
//
// Each run is judged by what its last network says of held-out source rows and of the target
// (outputs.safetensors), calibrated on the former, and by what all of them share: the target's
// class shares, which one of the runs estimates, and the vote of all. iwrun adapt and iwrun table
// --kind selection both ask [Comparison.Choose].
package judge
