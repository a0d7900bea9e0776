// Package onnx writes networks as ONNX files, which ONNX Runtime and many other
// programs run: LeNet, the mlp and the ResNets of package nets in evaluation mode, from
// raw inputs to probabilities. It needs no libtorch.
//
// A file has one input, "input", of shape (rows × …) and float32, and three outputs:
// "features" (rows × features), "logits" (rows × classes), as the network gives them, and
// "probabilities" (rows × classes), which calibration and a correction of the class shares
// may have changed. The number of rows is free. Parameters keep the names of
// their state dictionary. A file of several models that predict together has the last of
// these outputs alone. The operators are those of version 17 of the standard set, the
// file's form is IR version 8, both of 2022.
package onnx
