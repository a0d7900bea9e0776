// Package model keeps a trained network in a folder for other programs and later use:
//
//	model.safetensors  parameters and buffers under the names of PyTorch's state
//	                   dictionaries
//	model.json         what the network is, and what comes before and after it: [Metadata]
//
// [Save] writes the folder, [Load] makes the network of it again, and [WriteONNX]
// writes all of it as one ONNX file. docs/model.md is for those who read it with other
// programs.
package model
